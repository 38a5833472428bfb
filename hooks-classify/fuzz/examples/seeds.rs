//! Writes each command of the corpora to a separate file: `seeds FOLDER`.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let folder = PathBuf::from(env::args().nth(1).expect("the folder to write to"));
    fs::create_dir_all(&folder).expect("the folder");
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
    for name in ["everyday", "adversarial"] {
        let text = fs::read_to_string(corpus.join(name).with_extension("jsonl")).expect("a corpus");
        for (at, line) in text.lines().filter(|line| !line.is_empty()).enumerate() {
            let line: serde_json::Value = serde_json::from_str(line).expect("a labelled command");
            let command = line["command"].as_str().expect("a command");
            fs::write(folder.join(format!("{name}-{at}")), command).expect("a seed");
        }
    }
}
