use hooks_runtime::toolset::ToolSet;

#[derive(ToolSet)]
enum Tools {
    #[tool(nmae = "weather")]
    Weather(u8),
}

fn main() {}
