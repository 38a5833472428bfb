use hooks_runtime::toolset::ToolSet;

#[derive(ToolSet)]
enum Tools {
    #[tool(output = &str)]
    Weather(u8),
}

fn main() {}
