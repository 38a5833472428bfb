use hooks_runtime::toolset::ToolSet;

#[derive(ToolSet)]
enum Tools<T> {
    Weather,
    Search(T, T),
    #[tool(nam)]
    Mail { to: String },
    List(T),
}

fn main() {}
