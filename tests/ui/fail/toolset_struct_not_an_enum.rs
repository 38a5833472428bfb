use hooks_runtime::toolset::ToolSet;

#[derive(ToolSet)]
struct Tools {
    weather: u8,
}

fn main() {}
