use hooks_runtime::toolset::ToolSet;

#[derive(ToolSet)]
enum Tools {
    #[tool(name = weather)]
    Weather(u8),
}

fn main() {}
