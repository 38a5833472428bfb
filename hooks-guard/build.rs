//! Lists the tables in `programs/`, so that none can be forgotten.

use std::{env, fs, path::Path};

fn main() {
    println!("cargo::rerun-if-changed=programs");
    let root = env::var("CARGO_MANIFEST_DIR").expect("set by cargo");
    let mut names: Vec<String> = fs::read_dir(Path::new(&root).join("programs"))
        .expect("the folder of the tables")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| {
            name.ends_with(".toml") && name != "variables.toml" && name != "secrets.toml"
        })
        .collect();
    names.sort();
    let mut code = String::from("&[\n");
    for name in names {
        let path = Path::new(&root).join("programs").join(&name);
        code.push_str(&format!("    ({name:?}, include_str!({path:?})),\n"));
    }
    code.push_str("]\n");
    let out = env::var("OUT_DIR").expect("set by cargo");
    fs::write(Path::new(&out).join("tables.rs"), code).expect("the list of tables");
}
