use hooks_runtime::toolset::ToolSet;

struct Forecast;

#[derive(ToolSet)]
enum Tools {
    #[tool(output = Forecast)]
    Weather(u8),
}

fn main() {}
