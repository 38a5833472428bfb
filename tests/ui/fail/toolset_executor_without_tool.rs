use hooks_runtime::toolset::{ToolCall, ToolRunner, ToolSet};

#[derive(serde::Deserialize)]
struct Args {}
#[derive(ToolSet)]
enum Tools {
    #[tool(output = String)] Weather(Args),
}

struct Station;
fn main() {
    let _ = ToolRunner::<Tools, _>::new(Station).execute(ToolCall::new("", "", ().into()));
}
