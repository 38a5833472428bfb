use hooks_runtime::toolset::ToolSet;
#[derive(serde::Deserialize)]
pub struct Place {}
#[derive(ToolSet)]
pub enum Tools {
    #[tool("weather", output = u8)]
    Weather(Place),
}

fn main() {}
