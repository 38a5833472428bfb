use std::cell::Cell;
use hooks_runtime::RegisterOptions;

fn main() {
    let once = Cell::new(true);
    drop(RegisterOptions::new().when(move |_| once.replace(false)));
}
