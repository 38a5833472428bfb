//! Names and secrets that nobody can guess.

/// So many random bytes, in hexadecimal.
///
/// # Panics
/// If the system has no source of randomness: nothing that is secret can be made then.
pub(crate) fn random<const BYTES: usize>() -> String {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).expect("the system gives random bytes");
    hex::encode(bytes)
}
