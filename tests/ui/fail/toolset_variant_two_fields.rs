use hooks_runtime::toolset::ToolSet;

#[derive(ToolSet)]
enum Tools {
    Weather(String, u8, u8),
}

fn main() {}
