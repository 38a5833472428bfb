use hooks_runtime::toolset::ToolSet;

#[derive(ToolSet)]
enum Tools<T> {
    #[tool(output = u8)]
    Weather(T),
}

fn main() {}
