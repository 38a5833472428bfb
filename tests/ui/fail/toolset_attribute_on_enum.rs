use hooks_runtime::toolset::ToolSet;

#[derive(ToolSet)]
#[tool(name = "weather")]
enum Tools {
    #[tool(output = u8)]
    Weather(u8),
}

fn main() {}
