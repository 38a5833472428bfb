use hooks_runtime::toolset::ToolSet;

#[derive(ToolSet)]
enum Tools {
    #[tool(hook = "WeatherHook")]
    Weather(u8),
}

fn main() {}
