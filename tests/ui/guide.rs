//! Executes the quick start and the guide of the book: runs every command, writes every file and
//! makes every change as the pages describe, and compares the output.
//!
//! The paragraph before a fenced block names the file that the block contains or changes: the last
//! text in backticks with a dot. The commands of an `sh` block continue in the folder of the block
//! before, and a `text` block after it is their output.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem;
use std::path::PathBuf;

use crate::files::{GUIDES, repository};
use crate::outside;

/// A fenced block of a page.
#[derive(Debug)]
struct Block<'p> {
    language: &'p str,
    /// The paragraph before it.
    caption: String,
    text: String,
}

impl<'p> Block<'p> {
    /// Returns the blocks of a page, in its order.
    fn all(page: &'p str) -> Vec<Block<'p>> {
        let mut blocks = Vec::new();
        let mut caption = String::new();
        let mut is_new = false;
        let mut lines = page.lines();
        while let Some(line) = lines.next() {
            if let Some(language) = line.strip_prefix("```") {
                let mut text = String::new();
                for line in lines.by_ref().take_while(|line| *line != "```") {
                    text.push_str(line);
                    text.push('\n');
                }
                let caption = caption.clone();
                blocks.push(Block {
                    language,
                    caption,
                    text,
                });
            } else if line.is_empty() {
                is_new = true;
            } else {
                if mem::take(&mut is_new) {
                    caption.clear();
                }
                caption.push_str(line);
                caption.push('\n');
            }
        }
        blocks
    }

    /// Returns the file that the block contains, or changes.
    fn file(&self) -> &str {
        let quoted = self.caption.split('`').skip(1).step_by(2);
        let file = quoted.filter(|name| name.contains('.')).last();
        file.unwrap_or_else(|| panic!("no file is named in front of {self:?}"))
    }
}

/// Table of the reader's manifest that no page mentions. Its condition is always true, because the
/// pages change the table without one.
const SHARED_FEATURES: &str = r#"
[target."cfg(all())".dependencies]
shared-features = { path = "../hooks/tests/fixtures/shared-features" }
"#;

/// State of a reader: a folder beside the repository, and the last output.
struct Reader {
    place: PathBuf,
    printed: Option<String>,
}

impl Reader {
    fn follow(&mut self, block: &Block<'_>) {
        match block.language {
            "sh" => self.run(&block.text),
            "text" => {
                let printed = self.printed.take();
                assert_eq!(
                    printed.as_deref(),
                    Some(&*block.text),
                    "after {}",
                    block.caption
                );
            }
            "diff" => self.change(block.file(), &block.text),
            "rust" | "toml" | "js" | "txt" => {
                fs::write(self.place.join(block.file()), &block.text).expect("the file is written");
            }
            other => panic!("a reader does not know what to do with `{other}`"),
        }
    }

    fn run(&mut self, commands: &str) {
        self.share_dependencies();
        let left = self.place.join("left-off");
        let output = outside::command("sh", &self.place)
            .args(["-ec", &format!("{commands}pwd > \"$LEFT_OFF\"")])
            .env("LEFT_OFF", &left)
            .output()
            .expect("`sh` starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{commands}{said}");
        assert!(!said.contains("warning: "), "{commands}{said}");
        let place = fs::read_to_string(&left).expect("the commands end by saying where they are");
        fs::remove_file(left).expect("it is there");
        self.place = PathBuf::from(place.trim_end());
        self.printed = Some(String::from_utf8(output.stdout).expect("UTF-8"));
    }

    /// Gives the program's third-party crates the versions and features that they have in the
    /// workspace, so that its build needs no network and reuses the workspace's artifacts. The
    /// features of `tokio` and of the crates of this repository remain as the pages write them.
    fn share_dependencies(&self) {
        let path = self.place.join("Cargo.toml");
        let Ok(manifest) = fs::read_to_string(&path) else {
            return;
        };
        if !manifest.contains(SHARED_FEATURES) {
            fs::write(path, manifest + SHARED_FEATURES).expect("the manifest is written");
        }
        // Before each build: `cargo` removes the versions of crates that it does not build yet.
        fs::copy(
            repository().join("Cargo.lock"),
            self.place.join("Cargo.lock"),
        )
        .expect("the lock file is copied");
    }

    /// Applies a change that is shown as a diff without line numbers.
    fn change(&self, file: &str, diff: &str) {
        let without = |mark: char| -> String {
            diff.lines()
                .filter(|line| !line.starts_with(mark))
                .flat_map(|line| [line.get(1..).unwrap_or_default(), "\n"])
                .collect()
        };
        let (old, new) = (without('+'), without('-'));
        let path = self.place.join(file);
        let text = fs::read_to_string(&path).expect("a file of the reader");
        let places = text.matches(&old).count();
        assert_eq!(places, 1, "`{file}` has {places} places like:\n{old}");
        fs::write(path, text.replace(&old, &new)).expect("the file is written");
    }
}

/// Returns the reader's folder: outside of the repository, and constant, because cargo rebuilds
/// everything for another path.
fn reader_folder(page: &str) -> PathBuf {
    let title = page.lines().next();
    let mut hasher = DefaultHasher::new();
    (repository(), title).hash(&mut hasher);
    std::env::temp_dir().join(format!("hooks-guide-{:x}", hasher.finish()))
}

/// Follows the pages of one program.
#[cfg(unix)]
fn follow(pages: &[&str]) {
    let first = pages.first().expect("there is a page");
    let reader_folder = reader_folder(first);
    if reader_folder.exists() {
        fs::remove_dir_all(&reader_folder).expect("what the last run left is removed");
    }
    fs::create_dir(&reader_folder).expect("a place for the reader");
    std::os::unix::fs::symlink(repository(), reader_folder.join("hooks")).expect("a link");
    fs::create_dir(reader_folder.join(".cargo")).expect("a folder for the configuration");
    fs::write(
        reader_folder.join(".cargo/config.toml"),
        outside::profiles(),
    )
    .expect("the configuration is written");
    let mut reader = Reader {
        place: reader_folder,
        printed: None,
    };
    for block in pages.iter().flat_map(|page| Block::all(page)) {
        reader.follow(&block);
    }
}

#[cfg(unix)]
#[test]
fn the_quick_start_works_as_written() {
    follow(GUIDES[0]);
}

#[cfg(unix)]
#[test]
fn the_guide_works_as_written() {
    follow(GUIDES[1]);
}
