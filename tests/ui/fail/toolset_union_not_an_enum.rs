use hooks_runtime::toolset::ToolSet;

#[derive(ToolSet)]
union Tools {
    weather: u8,
}

fn main() {}
