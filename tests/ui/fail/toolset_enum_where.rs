use hooks_runtime::toolset::ToolSet;

#[derive(ToolSet)]
enum Tools
where
    u8: Copy,
{
    #[tool(output = u8)]
    Weather(u8),
}

fn main() {}
