use hooks_runtime::toolset::ToolSet;

#[derive(ToolSet)]
enum Tools {
    #[tool(output = "String")]
    Weather(u8),
}

fn main() {}
