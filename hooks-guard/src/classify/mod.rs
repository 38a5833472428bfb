//! x
#![allow(missing_docs)]
mod shell;
pub fn try_parse(text: &str) -> String { match shell::parse(text) { shell::Reading::Agreed(_) => "agreed".into(), shell::Reading::Disputed(a,b) => format!("DISPUTED\n  B {a:?}\n  T {b:?}"), shell::Reading::Single(_) => "SINGLE".into(), shell::Reading::Unreadable(_)=>"UNREADABLE".into() } }
