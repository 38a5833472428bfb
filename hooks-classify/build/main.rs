//! Lists the programs of the tables in `programs/`, so that none can be
//! forgotten, and so that a process reads only what its commands name.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use serde::Deserialize;

/// The line with which the table of a program begins.
const HEADER: &str = "[[program]]";

#[derive(Deserialize)]
struct File {
    program: Vec<Program>,
}

#[derive(Deserialize)]
struct Program {
    names: Vec<String>,
}

fn main() {
    println!("cargo::rerun-if-changed=programs");
    println!("cargo::rerun-if-changed=build");
    let root = env::var("CARGO_MANIFEST_DIR").expect("set by cargo");
    let folder = Path::new(&root).join("programs");
    let mut files: Vec<String> = fs::read_dir(&folder)
        .expect("the folder of the tables")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| {
            name.ends_with(".toml") && name != "variables.toml" && name != "secrets.toml"
        })
        .collect();
    files.sort();
    let mut names: Vec<(String, usize)> = Vec::new();
    let (mut sources, mut sections) = (String::new(), String::new());
    let mut count = 0;
    for (at, file) in files.iter().enumerate() {
        let path = folder.join(file);
        let text = fs::read_to_string(&path).expect("a table that can be read");
        let _ = writeln!(sources, "    ({file:?}, include_str!({path:?})),");
        let programs = match toml::from_str::<File>(&text) {
            Ok(parsed) => parsed.program,
            Err(error) => panic!("`{file}` is no table; {error}"),
        };
        let starts = starts(&text);
        assert_eq!(
            starts.len(),
            programs.len(),
            "`{file}`: `{HEADER}` stands where no program begins, or not on a line of its own"
        );
        let ends = starts.iter().skip(1).copied().chain([text.len()]);
        for ((start, end), program) in starts.iter().zip(ends).zip(programs) {
            let _ = writeln!(sections, "    ({at}, {start}, {end}),");
            names.extend(program.names.into_iter().map(|name| (name, count)));
            count += 1;
        }
    }
    names.sort();
    let mut code = format!("pub(super) static FILES: &[(&str, &str)] = &[\n{sources}];\n");
    let _ = writeln!(
        code,
        "pub(super) const COUNT: usize = {count};\n\
         pub(super) static SECTIONS: [(usize, usize, usize); COUNT] = [\n{sections}];"
    );
    code.push_str("pub(super) static NAMES: &[(&str, usize)] = &[\n");
    for (name, section) in names {
        let _ = writeln!(code, "    ({name:?}, {section}),");
    }
    code.push_str("];\n");
    let out = env::var("OUT_DIR").expect("set by cargo");
    fs::write(Path::new(&out).join("tables.rs"), code).expect("the list of programs");
}

/// Where the tables of programs begin, in bytes.
fn starts(text: &str) -> Vec<usize> {
    let mut at = 0;
    let mut starts = Vec::new();
    for line in text.split_inclusive('\n') {
        if line.trim() == HEADER {
            starts.push(at);
        }
        at += line.len();
    }
    starts
}
