//! Tokens with a recognisable format: takes a text, returns the ranges of its tokens. The formats are
//! in `secrets/tokens.toml`.
//!
//! One pass over the text finds the places where a keyword may begin, by the first three characters. In
//! 10,000 characters of commands, the pass takes 0.22 million instructions. A search for each keyword
//! takes 9.6 million, and 2.9 million if the text must contain the first two characters.

use std::ops::Range;

/// Set of ASCII characters, one bit for each.
type CharSet = u128;

/// Format of a token: a keyword, mostly a prefix, and numbers of characters of an alphabet.
#[derive(Debug)]
pub(crate) struct TokenFormat {
    /// Characters before the keyword.
    before: Option<Run>,
    keyword: &'static str,
    /// Parts after the keyword.
    tail: &'static [FormatPart],
    /// If `true`, the token does not follow a `-` or `.` either, because its keyword occurs in other
    /// words, too.
    is_whole_word: bool,
}

#[derive(Debug)]
enum FormatPart {
    Text(&'static str),
    Run(Run),
}

/// All consecutive characters of an alphabet, if their number is in the range. Before a keyword, the
/// last `max` characters.
#[derive(Debug)]
struct Run {
    /// Index in `ALPHABETS`.
    alphabet: usize,
    min: usize,
    max: usize,
}

/// Formats whose keywords begin with a pair of characters.
#[derive(Debug)]
struct Bucket {
    /// Possible characters behind the pair; −36 % instructions in commands.
    thirds: CharSet,
    /// Indices in `FORMATS`.
    formats: &'static [u16],
}

impl Run {
    fn allows(&self, length: usize) -> bool {
        (self.min..=self.max).contains(&length)
    }
}

mod data {
    use super::{Bucket, CharSet, FormatPart, Run, TokenFormat};

    include!(concat!(env!("OUT_DIR"), "/tokens.rs"));
}

use data::{ALPHABETS, BUCKETS, CELLS, CLASSES, FORMATS, ROWS};

/// Bit of `CLASSES`: the first character of a keyword at the start of a token. The bits that the next
/// character may have are shifted by 4.
const KEYWORD: u8 = 1;

/// Returns the ranges of the tokens in a text, sorted, without overlaps.
pub(crate) fn tokens(text: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = find(text).collect();
    ranges.sort_by_key(|range| range.start);
    ranges.dedup_by(|next, range| {
        let overlaps = next.start <= range.end;
        if overlaps {
            range.end = range.end.max(next.end);
        }
        overlaps
    });
    ranges
}

/// Returns the ranges of the tokens in a text, in the order of their keywords. Ranges may overlap.
pub(crate) fn find(text: &str) -> impl Iterator<Item = Range<usize>> {
    Search::new(text)
}

/// Iterator over the tokens of a text.
struct Search<'t> {
    text: &'t [u8],
    /// Place where the keywords of `candidates` may begin.
    at: usize,
    /// Place where the search for candidates continues.
    next: usize,
    /// Class of the character before `next`.
    class: u8,
    /// Indices in `FORMATS`.
    candidates: &'static [u16],
    /// The last runs before and after a keyword, by alphabet. The runs keep the time linear for many
    /// keywords in one run: 120,000 characters of `glpat-` take 2 ms, not 1.2 s.
    runs: [(Range<usize>, Range<usize>); ALPHABETS.len()],
}

impl Iterator for Search<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        loop {
            while let Some((&first, rest)) = self.candidates.split_first() {
                self.candidates = rest;
                if let Some(token) = self.token_around(&FORMATS[usize::from(first)]) {
                    return Some(token);
                }
            }
            self.find_candidates()?;
        }
    }
}

impl<'t> Search<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text: text.as_bytes(),
            at: 0,
            next: 0,
            class: CLASSES[0],
            candidates: &[],
            runs: [const { (0..0, 0..0) }; ALPHABETS.len()],
        }
    }

    /// Moves to the next place where a keyword may begin.
    fn find_candidates(&mut self) -> Option<()> {
        let rest = &self.text[self.next..];
        let mut class = self.class;
        for (offset, byte) in rest.iter().enumerate() {
            let allowed = class >> 4;
            class = CLASSES[usize::from(*byte)];
            if class & allowed == 0 {
                continue;
            }
            let at = |offset: usize| rest.get(offset).copied().unwrap_or_default() & 127;
            let row = ROWS[usize::from(byte & 127)];
            let cell = CELLS[usize::from(row)][usize::from(at(offset + 1))];
            let bucket = &BUCKETS[usize::from(cell)];
            if cell != 0 && bucket.thirds >> at(offset + 2) & 1 != 0 {
                self.at = self.next + offset;
                self.next = self.at + 1;
                self.class = class;
                self.candidates = bucket.formats;
                return Some(());
            }
        }
        None
    }

    /// Returns the token around the keyword of a format at the current place.
    fn token_around(&mut self, format: &TokenFormat) -> Option<Range<usize>> {
        let mut end = self.end_of_text(self.at, format.keyword)?;
        let start = match &format.before {
            None => self.at,
            Some(run) => {
                let first = self.at.saturating_sub(run.max);
                let start = self.start_of_run(self.at, run.alphabet).max(first);
                run.allows(self.at - start).then_some(start)?
            }
        };
        let is_joined = |byte: &u8| match format.is_whole_word {
            true => is_word(*byte) || matches!(byte, b'-' | b'.'),
            false => is_word(*byte),
        };
        if self.text[..start].last().is_some_and(is_joined) {
            return None;
        }
        for part in format.tail {
            end = match part {
                FormatPart::Text(text) => self.end_of_text(end, text)?,
                FormatPart::Run(run) => {
                    let run_end = self.end_of_run(end, run.alphabet);
                    run.allows(run_end - end).then_some(run_end)?
                }
            };
        }
        Some(start..end)
    }

    fn end_of_text(&self, at: usize, text: &str) -> Option<usize> {
        let is_text = self.text[at..].starts_with(text.as_bytes());
        is_text.then_some(at + text.len())
    }

    fn start_of_run(&mut self, end: usize, alphabet: usize) -> usize {
        let (known, _) = &mut self.runs[alphabet];
        let mut start = end;
        while start > 0 && has(ALPHABETS[alphabet], self.text[start - 1]) {
            if known.contains(&(start - 1)) {
                start = known.start;
                break;
            }
            start -= 1;
        }
        *known = start..end;
        start
    }

    fn end_of_run(&mut self, start: usize, alphabet: usize) -> usize {
        let (_, known) = &mut self.runs[alphabet];
        let mut end = start;
        while end < self.text.len() && has(ALPHABETS[alphabet], self.text[end]) {
            if known.contains(&end) {
                end = known.end;
                break;
            }
            end += 1;
        }
        *known = start..end;
        end
    }
}

fn is_word(byte: u8) -> bool {
    CLASSES[usize::from(byte)] >> 4 & KEYWORD == 0
}

fn has(set: CharSet, byte: u8) -> bool {
    byte.is_ascii() && set >> byte & 1 != 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::data::{FORMATS, SAMPLES};
    use super::{Search, TokenFormat, find, tokens};

    /// Random texts with a fixed seed, none of which is a real token.
    struct Chance(u64);

    impl Chance {
        fn pick(&mut self, of: &[u8]) -> char {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let at = usize::try_from(self.0 >> 33).unwrap_or_default();
            char::from(of[at % of.len()])
        }

        /// Returns a text with the shape of a sample.
        fn sample(&mut self, shape: &str) -> String {
            let mut sample = String::new();
            let mut rest = shape;
            while let Some((before, behind)) = rest.split_once('{') {
                let (run, behind) = behind.split_once('}').expect("a run ends");
                sample.push_str(before);
                let (alphabet, count) = run.split_once(' ').expect("an alphabet and a count");
                let alphabet = letters(alphabet);
                let count: usize = count.parse().expect("a number");
                for at in 0..count {
                    // Punctuation in the middle only, so that the token does not end like a word.
                    let is_end = at == 0 || at + 1 == count;
                    let of = if is_end { &alphabet[..10] } else { alphabet };
                    sample.push(self.pick(of));
                }
                rest = behind;
            }
            sample + rest
        }
    }

    /// Returns the characters of an alphabet as issuers use them: hexadecimal digits in lower case,
    /// Base64 without padding.
    fn letters(alphabet: &str) -> &'static [u8] {
        const BASE64: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        const BASE64_URL: &[u8] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
        match alphabet {
            "digit" => b"0123456789",
            "hex" => b"0123456789abcdef",
            "lower" => b"abcdefghijklmnopqrstuvwxyz0123456789",
            "upper" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
            "alnum" => &BASE64[..62],
            "word" => &BASE64_URL[..63],
            "base64" => BASE64,
            "base64url" => BASE64_URL,
            _ => panic!("unknown alphabet `{alphabet}`"),
        }
    }

    #[test]
    fn each_sample_is_found_in_every_position() {
        let mut chance = Chance(7);
        let mut missed = Vec::new();
        for &(issuer, shape) in SAMPLES.iter().flat_map(|sample| [sample; 3]) {
            let token = chance.sample(shape);
            for (before, behind) in [
                ("", ""),
                ("frob ", " --then this"),
                ("FROB=", " make"),
                ("frob --with=", ""),
                ("curl -H 'X-Frob: ", "' https://x.example/a"),
                ("curl 'https://x.example/a?frob=", "&page=2'"),
                ("curl https://x.example/", "?page=2"),
                ("frob \"", "\""),
                ("frob '{\"frob\":\"", "\"}'"),
                ("echo ", " | frob; ls"),
                ("frob ", ";rm -r src"),
                ("frob ", "$(rm -r src)"),
                ("frob é", "é"),
            ] {
                let text = format!("{before}{token}{behind}");
                let expected = before.len()..before.len() + token.len();
                let found = tokens(&text);
                if found != [expected] {
                    missed.push(format!("{issuer}: {shape}: {text}: {found:?}"));
                }
            }
        }
        assert!(missed.is_empty(), "{}", missed.join("\n"));
    }

    #[test]
    fn every_format_finds_a_sample() {
        let mut chance = Chance(5);
        let samples: Vec<String> = SAMPLES
            .iter()
            .map(|(_, shape)| chance.sample(shape))
            .collect();
        let is_found = |format: &TokenFormat| {
            samples.iter().any(|sample| {
                let mut keywords = sample.match_indices(format.keyword);
                keywords.any(|(at, _)| {
                    let mut search = Search::new(sample);
                    search.at = at;
                    search.token_around(format) == Some(0..sample.len())
                })
            })
        };
        let unused: Vec<_> = FORMATS.iter().filter(|format| !is_found(format)).collect();
        assert!(unused.is_empty(), "{unused:?}");
    }

    #[test]
    fn tokens_are_found_next_to_each_other_and_in_each_other() {
        let mut chance = Chance(3);
        let first = chance.sample("ghp_{alnum 36}");
        let second = chance.sample("xoxb-{digit 12}-{digit 12}{alnum 24}");
        let text = format!("{first} {second}");
        let ranges = [0..first.len(), first.len() + 1..text.len()];
        assert_eq!(tokens(&text), ranges);
        let token = chance.sample("{digit 10}:AA{base64url 33}");
        let text = format!("{first},{token}");
        assert_eq!(tokens(&text), [0..first.len(), first.len() + 1..text.len()]);
        // `xoxe.xox` and `xoxb-` in one token.
        let token = chance.sample("xoxe.xoxb-1-{upper 164}");
        assert!(find(&token).count() > 1);
        let whole = 0..token.len();
        assert_eq!(tokens(&token), [whole]);
    }

    #[test]
    fn texts_that_resemble_tokens_are_not_found() {
        let mut chance = Chance(11);
        let (commit, digest) = (chance.sample("{hex 40}"), chance.sample("{hex 64}"));
        let uuid = chance.sample("{hex 8}-{hex 4}-4{hex 3}-a{hex 3}-{hex 12}");
        for command in [
            format!("git show {commit}"),
            format!("git diff {commit}..{digest}"),
            "git show 4b1d3e5f7a9c0b2d4f6e8a1c3b5d7f9e0a2c4e6f".to_owned(),
            format!("docker pull alpine@sha256:{digest}"),
            format!("echo {digest} a.tgz | sha256sum -c"),
            format!("sha256sum --check <<< '4b1d{}  a'", &digest[4..]),
            format!("curl https://x.example/items/{uuid}"),
            format!("kubectl get pod/{uuid}"),
            format!("ls ~/.cache/frob/{digest}/{uuid}"),
            format!("gh cache delete node-key-{}", &digest[..32]),
            format!("gh run view --job 4b1d-{uuid}"),
            "pip install scikit-learn hf_transfer".to_owned(),
            "npm_config_registry=https://x.example npm_config_cache_min=1 npm ci".to_owned(),
            "cargo test test_that_every_known_shape_is_found_in_its_place".to_owned(),
            "cargo test live_reload_of_the_page_when_a_file_was_changed".to_owned(),
            "python3 -c 'import re; s.replace(x, y); pat.findall(s)'".to_owned(),
            "aws s3 ls s3://access-production-logs/2026".to_owned(),
            "kubectl get secret_store -n dapi-system".to_owned(),
            "ls AKIA.txt SK.csv API-GATEWAY sntrys_ shpat_ glsa_dashboards.json".to_owned(),
            "grep -r 'xkeysib-' src && grep -rn ghp_ .".to_owned(),
            "git checkout feature/lin_api_client pul-requests".to_owned(),
            "dig TXT _dmarc.example.us12 key-signing.example".to_owned(),
            "cat atlasv1.md test_data/live_stream.json r8_module".to_owned(),
            "npm i @scope/fw_utils re_export_all_of_the_names_in_this_module".to_owned(),
            "git log --grep api-gateway sdk-core pa-checkout-flow-of-the-shop".to_owned(),
            "echo sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==".to_owned(),
            "ssh-keygen -lf k | grep SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8".to_owned(),
            "kubectl get pod api-7d4b9c6f5d-x2x9z key_of_the_map".to_owned(),
            format!("docker inspect api-{}", &commit[..12]),
            "make EAAC EAAA tfp_rate rdme_build ico-convert".to_owned(),
            // Names that begin like the formats of few letters.
            "cargo test re_generate_the_tables pk_of_the_row cr-check_the_links".to_owned(),
            "python3 -c 'STS.AssumeRoleWithWebIdentity; VF.format(x); hawk.run()'".to_owned(),
            "ls 00DATA! 1000.txt AAAA AAAAAAAAAAAAAAAAAAAAAA KEYBOARD NF-e BBFF-1".to_owned(),
            "go test ./apk_tools/build ion_channels lip_sync salad_cloud_configuration".to_owned(),
            format!("git show cr-{commit} -- pat-na1-{commit}"),
            format!("base64 -d <<< {}", "A".repeat(200)),
            "base64 -d <<< LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJzakNDQVZpZ0F3SUJBZ0lVYmJiYmJi".to_owned(),
        ] {
            let found: Vec<&str> = tokens(&command)
                .into_iter()
                .map(|range| &command[range])
                .collect();
            assert!(found.is_empty(), "{command}: {found:?}");
        }
    }

    #[test]
    fn keywords_in_one_run_take_linear_time() {
        // Quadratic time is minutes.
        for part in ["glpat-", "_mmk", "-us1", "eyJ.", ":AA1", "xoxb-"] {
            let text = part.repeat(1_000_000 / part.len());
            assert!(tokens(&text).len() <= 1);
        }
    }

    /// Returns keywords and characters of tokens, so that random texts have tokens.
    fn pieces() -> impl Strategy<Value = String> {
        let keywords = (0..FORMATS.len()).prop_map(|at| FORMATS[at].keyword.to_owned());
        let samples = (0..SAMPLES.len(), any::<u64>())
            .prop_map(|(at, seed)| Chance(seed).sample(SAMPLES[at].1));
        let piece = prop_oneof![
            keywords,
            samples,
            "[a-f0-9]{0,40}",
            "[ -~é€]{0,3}",
            any::<String>()
        ];
        proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn ranges_are_sorted_and_on_character_boundaries(text in pieces()) {
            let mut end = None;
            for range in tokens(&text) {
                prop_assert!(!text[range.clone()].is_empty());
                prop_assert!(end.is_none_or(|end| end < range.start));
                end = Some(range.end);
            }
        }

        #[test]
        fn the_index_and_the_known_runs_change_no_result(text in pieces()) {
            let mut expected: Vec<_> = FORMATS
                .iter()
                .flat_map(|format| {
                    let keywords = 0..text.len();
                    let at_keyword = |at: usize| {
                        let mut search = Search::new(&text);
                        search.at = at;
                        search.token_around(format)
                    };
                    keywords.filter_map(at_keyword).collect::<Vec<_>>()
                })
                .collect();
            let mut found: Vec<_> = find(&text).collect();
            expected.sort_by_key(|range| (range.start, range.end));
            found.sort_by_key(|range| (range.start, range.end));
            prop_assert_eq!(found, expected);
        }
    }
}
