use hooks_runtime::toolset::{ToolCallContext, ToolSet};

#[derive(serde::Deserialize)]
struct Args {}
#[derive(ToolSet)]
enum Tools {
    #[tool(output = String)] Weather(Args),
}

#[hooks_runtime::impl_hook(WeatherHook)]
async fn allow(input: Args, _context: ToolCallContext) -> Args {
    input
}
fn main() {}
