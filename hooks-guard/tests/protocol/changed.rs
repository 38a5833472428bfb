//! Randomly changed samples: the fuzz target's assertions on a stable toolchain.

use std::thread;

use crate::protocol::holds::assert_holds;
use crate::protocol::random::Random;
use crate::protocol::{Sample, samples};

/// Number of changes of each sample; a few seconds without optimisation.
const CHANGES: usize = 300;

/// Texts that are inserted.
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

fn change(random: &mut Random, bytes: &mut Vec<u8>) {
    let at = random.below(bytes.len() + 1);
    let end = (at + random.below(30)).min(bytes.len());
    match random.below(5) {
        0 => drop(bytes.drain(at..end)),
        1 => {
            let piece = bytes[at..end].to_vec();
            bytes.splice(at..at, piece);
        }
        2 if at < bytes.len() => bytes[at] = random.below(256) as u8,
        3 => bytes.truncate(at),
        _ => {
            let piece = random.of(PIECES);
            bytes.splice(at..at, piece.bytes());
        }
    }
}

#[test]
fn randomly_changed_samples_are_never_allowed() {
    let samples = samples();
    assert!(samples.len() > 60);
    thread::scope(|scope| {
        for (seed, samples) in (0x5eed..).zip(samples.chunks(samples.len().div_ceil(3))) {
            scope.spawn(move || changes_are_never_allowed(Random(seed), samples));
        }
    });
}

fn changes_are_never_allowed(mut random: Random, samples: &[Sample]) {
    for Sample { name, input } in samples {
        let request = input.to_string().into_bytes();
        for _ in 0..CHANGES {
            let mut bytes = request.clone();
            for _ in 0..=random.below(3) {
                change(&mut random, &mut bytes);
            }
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let looked = std::panic::catch_unwind(|| assert_holds(&bytes));
            assert!(looked.is_ok(), "{name}: {text}");
        }
    }
}
