//! Encoded commands: the value of `-EncodedCommand` in, the text that it encodes out.

use base64::Engine;

/// Returns the text in UTF-16 that a value in Base64 encodes.
pub(crate) fn decode_command(text: &str) -> Option<String> {
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(text.trim())
        .ok()?;
    if bytes.len() % 2 != 0 || bytes.is_empty() {
        return None;
    }
    let units: Vec<u16> = bytes
        .chunks_exact(2)
        .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
        .collect();
    String::from_utf16(&units).ok()
}
