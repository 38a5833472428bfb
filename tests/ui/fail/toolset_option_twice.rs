use hooks_runtime::toolset::ToolSet;

#[derive(ToolSet)]
enum Tools {
    #[tool(name = "a")]
    #[tool(name = "b")]
    Weather(u8),
}

fn main() {}
