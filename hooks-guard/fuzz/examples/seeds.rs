//! Writes every command of the corpora into a file of its own, and every sample of what agents
//! send, into another: `seeds FOLDER [FOLDER]`.

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

    let Some(folder) = env::args().nth(2).map(PathBuf::from) else {
        return;
    };
    fs::create_dir_all(&folder).expect("the folder");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/protocol");
    let files = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).expect("a folder of samples");
        entries
            .map(|entry| entry.expect("a sample").path())
            .collect()
    };
    let mut samples = files(&root.join("samples"));
    let clients = files(&root.join("recorded"));
    let clients = clients.iter().filter(|path| path.is_dir());
    samples.extend(clients.flat_map(|client| files(client)));
    for (at, path) in samples.iter().enumerate() {
        let text = fs::read_to_string(path).expect("a sample");
        let sample: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let input = sample.get("input").unwrap_or(&sample["request"]);
        let name = path.file_stem().expect("its name").display();
        fs::write(folder.join(format!("{name}-{at}")), input.to_string()).expect("a seed");
    }
}
