use hooks_runtime::{EmitError, HookRegistry};

struct Order {
    _id: u32,
}

async fn place(hooks: &HookRegistry, order: Order) -> Result<(), EmitError> {
    hooks.emit("order:placed", order).await?;
    Ok(())
}

fn main() {
    drop(place(&HookRegistry::new(), Order { _id: 1 }));
}
