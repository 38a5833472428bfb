//! The test kit itself (`E-160`).

mod coordinator;
mod macros;
mod mock_tool;
mod recorder;
