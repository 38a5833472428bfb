//! Build script: the tables in `programs/`, `languages/` and `secrets/` in, Rust source with static
//! data out. A mistake in a table is an error of the build.

mod calls;
mod emit;
mod format;
mod languages;
mod load;
mod model;
mod path_patterns;
mod raw;
mod read;
mod secret_words;
mod secrets;
#[path = "../src/settings/pattern.rs"]
#[expect(dead_code, reason = "the crate writes patterns as well")]
mod setting_pattern;
mod tokens;
mod words;

use std::path::Path;
use std::{env, fs};

fn main() {
    for path in [
        "programs",
        "languages",
        "secrets",
        "build",
        "src/settings/pattern.rs",
    ] {
        println!("cargo::rerun-if-changed={path}");
    }
    let root = env::var("CARGO_MANIFEST_DIR").expect("set by cargo");
    let out = env::var("OUT_DIR").expect("set by cargo");
    let tables = read::sources(Path::new(&root))
        .map_err(|error| vec![error])
        .and_then(|sources| load::tables(&sources));
    match tables {
        Ok(tables) => {
            for (name, code) in [
                ("tables.rs", emit::tables(&tables)),
                ("languages.rs", emit::languages(&tables.languages)),
                ("tokens.rs", tokens::code(&tables.tokens)),
                ("secret_words.rs", secret_words::code(&tables.secret_words)),
            ] {
                fs::write(Path::new(&out).join(name), code).expect("a file in the folder of cargo");
            }
        }
        Err(errors) => {
            for error in errors {
                let text = error.to_string();
                for line in text.lines() {
                    println!("cargo::error={line}");
                }
            }
        }
    }
}
