//! Judges of scripts in other languages than the shell's.

mod awk;
mod cmd;
mod code;
pub(crate) mod powershell;
mod printed;
mod redis;
mod sed;
#[cfg(feature = "sql")]
mod sql;
mod variables;

pub(crate) use self::awk::is_connection;
use super::judge::Judge;
use crate::model::arg::Arg;
use crate::model::language::Language;
use crate::model::unseen_code::UnseenCode;

impl Judge<'_> {
    /// Judges a script that a program was given.
    pub(crate) fn script_in(&mut self, language: Language, arg: &Arg, path: &str) {
        // Text of PowerShell is judged where it is decoded.
        if language != Language::PowerShell {
            self.parts.script(language, &arg.text);
            self.variables_in(language, arg);
        }
        // A filter of `jq` neither writes nor runs anything.
        if language != Language::Jq && (!arg.known() || arg.guess) {
            self.parts.unseen_code(UnseenCode::Script);
        }
        match language {
            Language::Sed => sed::judge(self, arg),
            Language::Awk => awk::judge(self, arg),
            #[cfg(feature = "sql")]
            Language::Sql => sql::judge(self, arg, path),
            #[cfg(not(feature = "sql"))]
            Language::Sql => {
                let reason = format!("{path} runs SQL, which this build does not read");
                self.find(Effect::Code, arg.span, reason);
            }
            Language::Redis => redis::judge(self, arg),
            Language::Jq => {}
            Language::PowerShell => powershell::judge(self, arg),
            Language::Cmd => cmd::judge(self, arg),
            Language::Mongo => code::mongo(self, arg),
            Language::Python
            | Language::Perl
            | Language::Ruby
            | Language::Node
            | Language::Php
            | Language::Lua
            | Language::Code => {
                code::judge(self, language, arg);
            }
        }
    }
}
