//! Times in options and in output. In: a text such as `yesterday`, `2h` or `2026-05-01`, or a point
//! in time. Out: the point in time, or its local date and time.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};

/// Parses a time. A date is the start of its day, and a duration is that long before now, both in
/// the time zone of this machine.
pub(super) fn parse(text: &str) -> Result<Timestamp, String> {
    parse_at(text, &Zoned::now())
}

fn parse_at(text: &str, now: &Zoned) -> Result<Timestamp, String> {
    let text = text.trim();
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time);
    }
    let local = match text.to_ascii_lowercase().as_str() {
        "now" => Ok(now.clone()),
        "today" => now.start_of_day(),
        "yesterday" => now.yesterday().and_then(|day| day.start_of_day()),
        lower => match (text.parse::<DateTime>(), lower.parse::<Span>()) {
            (Ok(time), _) => time.to_zoned(now.time_zone().clone()),
            (_, Ok(span)) => now.checked_sub(span.abs()),
            (Err(error), _) => Err(error),
        },
    };
    local.map(|time| time.timestamp()).map_err(|_| {
        "use `yesterday`, `2h`, `3 days`, `2026-05-01` or `2026-05-01T10:00:00Z`".to_owned()
    })
}

/// Formats a time in the time zone of this machine, with `strftime`.
pub(super) fn local_time(at: Timestamp, format: &str) -> String {
    at.to_zoned(TimeZone::system()).strftime(format).to_string()
}

/// Formats a date and time, without seconds, in the time zone of this machine.
pub(super) fn shown_time(at: Timestamp) -> String {
    local_time(at, "%F %R")
}

#[cfg(test)]
mod tests {
    use jiff::Zoned;

    use super::parse_at;

    #[test]
    fn times_are_parsed_relative_to_now_and_as_local_times() {
        let now: Zoned = "2026-05-01T10:30:00+02:00[+02:00]".parse().expect("a time");
        for (text, wanted) in [
            ("now", "2026-05-01T08:30:00Z"),
            ("today", "2026-04-30T22:00:00Z"),
            ("Yesterday", "2026-04-29T22:00:00Z"),
            ("2h", "2026-05-01T06:30:00Z"),
            ("90 min ago", "2026-05-01T07:00:00Z"),
            ("3 days", "2026-04-28T08:30:00Z"),
            ("1 week", "2026-04-24T08:30:00Z"),
            ("2026-04-01", "2026-03-31T22:00:00Z"),
            ("2026-04-01 12:00", "2026-04-01T10:00:00Z"),
            ("2026-04-01T12:00:00Z", "2026-04-01T12:00:00Z"),
            ("2026-04-01T12:00:00+05:00", "2026-04-01T07:00:00Z"),
        ] {
            let time = parse_at(text, &now).expect(text);
            assert_eq!(time.to_string(), wanted, "{text}");
        }
        for text in ["", "tomorrow-ish", "7", "2026-13-01", "ten days"] {
            let error = parse_at(text, &now).expect_err(text);
            assert!(error.contains("`yesterday`"), "{error}");
        }
    }
}
