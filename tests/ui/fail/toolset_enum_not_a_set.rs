use hooks_runtime::toolset::ToolSet;

enum Tools {}

fn is_set<T: ToolSet>() {}

fn main() {
    is_set::<Tools>();
}
