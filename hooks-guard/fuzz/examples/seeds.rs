//! Writes each sample of agents' inputs to a separate file: `seeds FOLDER`.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let folder = PathBuf::from(env::args().nth(1).expect("the folder to write to"));
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
