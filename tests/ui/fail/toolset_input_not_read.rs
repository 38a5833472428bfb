use hooks_runtime::toolset::ToolSet;

struct Args;

#[derive(ToolSet)]
enum Tools {
    #[tool(output = u8)]
    Weather(Args),
}

fn main() {}
