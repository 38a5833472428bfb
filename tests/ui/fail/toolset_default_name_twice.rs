use hooks_runtime::toolset::ToolSet;

#[derive(ToolSet)]
enum Tools {
    #[tool(output = u8)]
    GetURL(u8),
    #[tool(output = u8)]
    GetUrl(u8),
}

fn main() {}
