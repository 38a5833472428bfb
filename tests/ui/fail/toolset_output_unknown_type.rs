use hooks_runtime::toolset::ToolSet;

#[derive(ToolSet)]
enum Tools {
    #[tool(output = Missing)]
    Weather(u8),
}

fn main() {}
