//! Names of variables and settings: a name in, `true` out if its value is a secret.

/// Returns `true` if the name of a variable or a setting is that of a secret.
pub(crate) fn is_secret_name(name: &str) -> bool {
    // The programs that split text are no secrets.
    let name = name.to_ascii_uppercase().replace("TOKENIZE", "");
    [
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "PASSPHRASE",
        "APIKEY",
        "ACCESSKEY",
        "PRIVATEKEY",
        "EXTRAHEADER",
    ]
    .iter()
    .any(|word| name.contains(word))
        || name
            .split('_')
            .any(|word| ["KEY", "PASS", "PAT"].contains(&word))
        || name.ends_with("_AUTH")
}
