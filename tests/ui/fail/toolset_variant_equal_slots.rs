use hooks_runtime::toolset::ToolSet;

#[allow(non_camel_case_types)]
#[derive(ToolSet)]
enum Tools {
    #[tool(output = u8)]
    GetURL(u8),
    #[tool(output = u8, name = "other")]
    get_url(u8),
}

fn main() {}
