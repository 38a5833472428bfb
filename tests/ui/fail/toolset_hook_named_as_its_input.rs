use hooks_runtime::toolset::ToolSet;
#[derive(serde::Deserialize)]
pub struct WeatherHook {}
#[derive(ToolSet)]
pub enum Tools {
    #[tool(output = u8)]
    Weather(WeatherHook),
}

fn main() {}
