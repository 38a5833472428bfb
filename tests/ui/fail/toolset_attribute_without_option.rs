use hooks_runtime::toolset::ToolSet;

#[derive(ToolSet)]
enum Tools {
    #[tool]
    Weather(u8),
}

fn main() {}
