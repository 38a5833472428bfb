//! Server-sent events, whatever pieces they come in, as another parser reads them.

use futures::{StreamExt, executor::block_on, stream};
use hooks_runtime::model::provider::SseParser;
use proptest::prelude::*;

/// Lines of all kinds, with ends of all kinds.
fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => "data:? ?[a-c:\u{e4}\u{1f980} ]{0,4}",
        1 => "event: ?[a-c]{0,2}",
        1 => ":[a-c ]{0,3}",
        1 => "(id|retry|other|data|event)",
        4 => Just(String::new()),
    ];
    let end = prop_oneof![Just("\n"), Just("\r\n"), Just("\r")];
    proptest::collection::vec((line, end), 0..24)
        .prop_map(|lines| lines.into_iter().map(|(line, end)| line + end).collect())
}

/// Returns the bytes, cut at these places.
fn cut(text: &str, cuts: &[prop::sample::Index]) -> Vec<Vec<u8>> {
    let mut places: Vec<_> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
    places.extend([0, text.len()]);
    places.sort_unstable();
    let pairs = places.windows(2);
    pairs
        .map(|pair| text.as_bytes()[pair[0]..pair[1]].to_vec())
        .collect()
}

fn ours(pieces: &[Vec<u8>]) -> Vec<(String, String)> {
    let mut parser = SseParser::new();
    let events = pieces.iter().flat_map(|piece| parser.push(piece).unwrap());
    events.map(|event| (event.event, event.data)).collect()
}

/// Returns the other parser's events of the whole text, with one more line, because it waits after
/// `\r` for the next byte.
fn theirs(text: &str) -> Vec<(String, String)> {
    let bytes = stream::iter([Ok::<_, std::io::Error>(
        format!("{text}: end\n").into_bytes(),
    )]);
    let events = eventsource_stream::EventStream::new(bytes);
    let events = events.map(|event| event.unwrap()).collect::<Vec<_>>();
    let events = block_on(events).into_iter();
    events.map(|event| (event.event, event.data)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn t_75_sse_events_do_not_depend_on_the_chunks(
        text in text(),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        prop_assert_eq!(ours(&cut(&text, &cuts)), ours(&[text.clone().into_bytes()]));
    }

    #[test]
    fn t_75_sse_events_equal_those_of_another_parser(text in text()) {
        prop_assert_eq!(ours(&[text.clone().into_bytes()]), theirs(&text), "{:?}", text);
    }
}
