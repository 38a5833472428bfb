//! Judges of scripts in other languages than the shell's.

mod awk;
mod code;
pub(crate) mod powershell;
mod printed;
mod redis;
mod sed;
mod sql;

use super::judge::{Arg, Judge};
use super::tables::{Effect, Language};

impl Judge<'_> {
    /// Judges a script that a program was given.
    pub(crate) fn script_in(&mut self, language: Language, arg: &Arg, path: &str) {
        match language {
            Language::Sed => sed::judge(self, arg),
            Language::Awk => awk::judge(self, arg),
            Language::Sql => sql::judge(self, arg, path),
            Language::Redis => redis::judge(self, arg),
            Language::Jq => {}
            Language::PowerShell => powershell::judge(self, arg),
            Language::Cmd => {
                let text = arg.text.trim_start();
                let first = text.split_whitespace().next().unwrap_or("").to_ascii_lowercase();
                match first.as_str() {
                    "del" | "erase" | "rd" | "rmdir" => self.find(Effect::Delete, arg.span, "deletes files"),
                    "dir" | "ver" | "type" | "set" if !text.contains(['>', '&', '|']) => {
                        self.find(Effect::Read, arg.span, "only shows");
                    }
                    _ => self.find(Effect::Code, arg.span, "runs commands of another shell"),
                }
            }
            Language::Mongo => code::mongo(self, arg),
            Language::Python | Language::Perl | Language::Ruby | Language::Node | Language::Php | Language::Lua => {
                code::judge(self, language, arg);
            }
        }
    }
}
