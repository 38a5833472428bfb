//! Unpredictable names and secrets. In: a length. Out: random hexadecimal digits.

/// Returns random bytes in hexadecimal.
///
/// # Panics
/// If the system has no source of randomness: no secret can be created then.
pub(crate) fn random<const BYTES: usize>() -> String {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).expect("the system gives random bytes");
    hex::encode(bytes)
}
