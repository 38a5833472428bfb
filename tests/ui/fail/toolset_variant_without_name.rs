use hooks_runtime::toolset::ToolSet;

#[derive(ToolSet)]
enum Tools {
    _1(u8),
}

fn main() {}
