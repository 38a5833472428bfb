use hooks_runtime::toolset::ToolSet;

#[derive(ToolSet)]
enum Tools {
    #[tool(output = u8)]
    New(u8),
}

fn main() {}
