//! The samples, changed at random: the fuzz target's assertions on a stable toolchain.

use std::fs;

use hooks_guard::protocol::fuzz_protocol;
use serde_json::Value;

/// So many changes of each sample; a few seconds without optimisation.
const CHANGES: usize = 300;

/// What is put into them.
const PIECES: &[&str] = &[
    "\"",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "null",
    "true",
    "7",
    "-1e999",
    "\\u0000",
    "\\ud800",
    "\u{feff}",
    "\"toolName\":\"bash\",",
    "\"tool_name\":7,",
    "\"tool_name\":\"Write\",",
    "\"cwd\":[],",
    "\"hookEventName\":\"PreToolUse\",",
    "\"hook_event_name\":\"PermissionRequest\",",
    "\"permission_mode\":\"bypassPermissions\",",
    "\"effect\":\"allow\",",
    "\"command\":[\"ls\"],",
    "\"tool_input\":null,",
    "\"toolArgs\":\"{}\",",
    "\"action\":\"shell\",",
    "\"hook\":\"x\",",
    "*** Delete File: a\\n",
    "file:///",
];

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % most.max(1) as u64) as usize
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len() + 1);
        let end = (at + self.below(30)).min(bytes.len());
        match self.below(5) {
            0 => drop(bytes.drain(at..end)),
            1 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            2 if at < bytes.len() => bytes[at] = self.below(256) as u8,
            3 => bytes.truncate(at),
            _ => {
                let piece = PIECES[self.below(PIECES.len())];
                bytes.splice(at..at, piece.bytes());
            }
        }
    }
}

#[test]
fn changed_samples_are_never_allowed_by_mistake() {
    let mut random = Random(0x5eed);
    let mut files: Vec<_> = fs::read_dir(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/protocol/samples"
    ))
    .unwrap()
    .map(|file| file.unwrap().path())
    .collect();
    files.sort();
    assert!(files.len() > 20);
    for file in files {
        let sample: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        let request = sample["request"].to_string().into_bytes();
        for _ in 0..CHANGES {
            let mut bytes = request.clone();
            for _ in 0..=random.below(3) {
                random.change(&mut bytes);
            }
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let looked = std::panic::catch_unwind(|| fuzz_protocol(&bytes));
            assert!(looked.is_ok(), "{}: {text}", file.display());
        }
    }
}
