use hooks_runtime::toolset::ToolSet;

#[derive(ToolSet)]
enum Tools {
    Weather(u8),
}

fn main() {}
