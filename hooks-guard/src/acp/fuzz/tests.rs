//! Random messages of both sides have the properties of the fuzz target `acp`.

use proptest::prelude::*;
use proptest::sample::Index;

use super::fuzz_proxy;

const SAMPLES: [&str; 2] = [
    include_str!("../../../tests/acp/samples/version-1.txt"),
    include_str!("../../../tests/acp/samples/version-2.txt"),
];

/// Texts that change how a message is read.
const SPLICES: &[&str] = &[
    "\n",
    "\n>",
    "\r",
    "\0",
    " ",
    "\t",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "null",
    "1.5",
    "1e3",
    "\"id\":1,",
    "\"ID\":1,",
    "\"method\":\"terminal/create\",",
    "\"Method\":\"x\",",
    "\"Method\":\"terminal/create\",",
    "\"result\":{},",
    "\"error\":null,",
    "\"method\":\"session\\/request_permission\",",
    "\\u0000",
    "\\ud800",
    "\u{2028}",
    "\u{feff}",
    "[1,",
    "\"\\u006dethod\":\"fs/write_text_file\",",
    "\"jsonrpc\":\"2.0\",",
    "\"params\":{},",
    "\"params\":[],",
    "\"optionId\":\"no\",",
];

/// Returns the places at which a text is inserted: between the keys and values, where the message may
/// still be JSON, the keys of the envelope more often.
fn places(text: &[u8]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..=text.len()).step_by(20).collect();
    let mut depth = 0;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            b',' | b':' => {}
            _ => continue,
        }
        let is_envelope = depth == 1 && *byte != b':';
        places.extend(std::iter::repeat_n(
            at + 1,
            if is_envelope { 10 } else { 1 },
        ));
    }
    places
}

/// Returns a line of a sample, of either side, with up to four changes.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let lines: Vec<&str> = SAMPLES.into_iter().flat_map(str::lines).collect();
    let splices = prop::collection::vec((any::<Index>(), 0..SPLICES.len()), 0..3);
    let byte = (any::<Index>(), any::<u8>());
    let bytes = prop::option::weighted(0.2, byte);
    let changes = prop::option::of((splices, bytes));
    let other_side = prop::bool::weighted(0.2);
    (0..lines.len(), changes, other_side).prop_map(move |(index, changes, other_side)| {
        let line = lines[index];
        let text = match (line.strip_prefix('>'), other_side) {
            (Some(text), true) => text.to_owned(),
            (None, true) => format!(">{line}"),
            (_, false) => line.to_owned(),
        };
        let mut text = text.into_bytes();
        if let Some((splices, bytes)) = changes {
            for (at, splice) in splices {
                let places = places(&text);
                let at = places[at.index(places.len())];
                text.splice(at..at, SPLICES[splice].bytes());
            }
            if let Some((at, byte)) = bytes {
                let at = at.index(text.len());
                text[at] = byte;
            }
        }
        text.push(b'\n');
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_request_passes_undecided_and_all_else_passes_byte_for_byte(lines in prop::collection::vec(line(), 0..20)) {
        fuzz_proxy(&lines.concat());
    }

    #[test]
    fn any_bytes_are_a_message_or_an_error(data in prop::collection::vec(any::<u8>(), 0..500)) {
        fuzz_proxy(&data);
    }
}

#[test]
fn the_samples_have_the_properties() {
    for sample in SAMPLES {
        fuzz_proxy(sample.as_bytes());
        // All ids are open.
        fuzz_proxy(sample.repeat(2).as_bytes());
        let sides_exchanged: String = sample
            .lines()
            .map(|line| match line.strip_prefix('>') {
                Some(line) => format!("{line}\n"),
                None => format!(">{line}\n"),
            })
            .collect();
        fuzz_proxy(sides_exchanged.as_bytes());
    }
}
