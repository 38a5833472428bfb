use hooks_runtime::toolset::ToolSet;

#[derive(ToolSet)]
enum Tools {
    #[tool(output = impl Clone)]
    Weather(u8),
}

fn main() {}
