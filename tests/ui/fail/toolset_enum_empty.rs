use hooks_runtime::toolset::ToolSet;

#[derive(ToolSet)]
enum Tools {}

fn main() {}
