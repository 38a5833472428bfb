//! Cmdlets: the name of a command in, `true` out if it is one of PowerShell's, `Verb-Noun`.

const VERBS: &[&str] = &[
    "get",
    "select",
    "where",
    "sort",
    "measure",
    "format",
    "out",
    "test",
    "compare",
    "convertto",
    "convertfrom",
    "write",
    "find",
    "search",
    "show",
    "resolve",
    "group",
    "remove",
    "clear",
    "uninstall",
    "stop",
    "reset",
    "dismount",
    "unregister",
    "disable",
    "set",
    "update",
    "move",
    "rename",
    "add",
    "start",
    "restart",
    "enable",
    "push",
    "pop",
    "new",
    "copy",
    "invoke",
    "import",
    "export",
    "install",
    "expand",
    "compress",
    "save",
    "tee",
    "register",
    "foreach",
    "split",
    "join",
    "read",
    "wait",
    "trace",
    "suspend",
    "resume",
    "enter",
    "exit",
    "connect",
    "disconnect",
    "send",
    "publish",
    "mount",
];

/// Returns true if a name is that of a command of PowerShell: a known verb and a noun.
pub(crate) fn cmdlet(name: &str) -> bool {
    name.split_once('-').is_some_and(|(verb, noun)| {
        noun.chars().all(|c| c.is_ascii_alphanumeric())
            && noun.starts_with(|c: char| {
                c.is_ascii_uppercase() || verb.starts_with(|c: char| c.is_ascii_uppercase())
            })
            && VERBS.contains(&verb.to_ascii_lowercase().as_str())
    })
}
