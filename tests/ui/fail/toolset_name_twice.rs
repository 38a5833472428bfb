use hooks_runtime::toolset::ToolSet;

#[derive(ToolSet)]
enum Tools {
    #[tool(output = u8)]
    Weather(u8),
    #[tool(output = u8, name = "weather")]
    Climate(u8),
}

fn main() {}
