//! Tests of tokens in commands. The formats have tests of their own beside their table.

use crate::mask::Masked;

/// Returns tokens of five issuers, in parts, so that none is written in this file.
fn tokens() -> [String; 5] {
    let digits = "0A1b2C3d4E".repeat(20);
    [
        format!("ghp_{}", &digits[..36]),
        format!("dapi{}", &"0a1b2c3d4e".repeat(4)[..32]),
        format!("0123456789:AA{}", &digits[..33]),
        format!("{}-us12", &"0a1b2c3d4e".repeat(4)[..32]),
        format!("AKIA{}", &"A2B3C4D5".repeat(2)),
    ]
}

#[test]
fn a_token_is_masked_in_every_position() {
    let shown: Vec<String> = tokens().iter().flat_map(|token| shown_of(token)).collect();
    assert!(shown.is_empty(), "{}", shown.join("\n"));
}

/// Returns the commands that show a token, and how they are shown.
fn shown_of(token: &str) -> Vec<String> {
    let mut shown = Vec::new();
    for command in [
        format!("frob {token}"),
        format!("frob {token} --then this"),
        format!("FROB={token} make"),
        format!("frob --with={token}"),
        format!("curl -H 'X-Frob: {token}' https://x.example/a"),
        format!("curl 'https://x.example/a?frob={token}&page=2'"),
        format!("curl https://x.example/{token}/a"),
        format!("frob \"{token}\" '{token}'"),
        format!("frob '{{\"frob\":\"{token}\"}}'"),
        format!("echo {token} | frob; ls"),
        format!("frob {token};rm -r src"),
        format!("frob {token}$(rm -r src)"),
    ] {
        let stored = Masked::for_storage(&command).text;
        // A slash may belong to it.
        let start = command.split_once(token).map_or("", |(start, _)| start);
        let is_path = command.ends_with("/a") && stored == format!("{start}[secret]");
        if stored != command.replace(token, "[secret]") && !is_path {
            shown.push(format!("{command}\n  {stored}"));
        }
        // A model gets no more than the trail.
        let asked = Masked::for_model(&command).text;
        let mut pieces = token.as_bytes().windows(12);
        if pieces.any(|piece| asked.as_bytes().windows(12).any(|of| of == piece)) {
            shown.push(format!("{command}\n  {asked}"));
        }
    }
    shown
}
