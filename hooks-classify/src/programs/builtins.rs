//! Builtins of the shell: the name of a command in, the builtin that the interpreter runs out.
//!
//! The interpreter has code for each of them, because a builtin changes the shell that runs it. The
//! effects of other builtins are in their tables only.

/// Options of shells with which every text means the same, or which the interpreter follows.
pub(crate) const HARMLESS_OPTIONS: &[&str] = &[
    "allexport",
    "clobber",
    "emacs",
    "errexit",
    "errreturn",
    "errtrace",
    "exec",
    "extendedglob",
    "functrace",
    "glob",
    "history",
    "hup",
    "ignoreeof",
    "log",
    "match",
    "monitor",
    "nomatch",
    "notify",
    "nullglob",
    "unset",
    "pipefail",
    "privileged",
    "promptsubst",
    "sharehistory",
    "verbose",
    "vi",
    "xtrace",
];

/// A builtin that the interpreter runs itself, or that runs in the shell itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Builtin {
    /// `:`
    Null,
    /// `true` and `false`.
    TrueOrFalse,
    /// `break`, `continue`, `return`, `exit`, `logout` and `bye`.
    Exit,
    Shift,
    Wait,
    Eval,
    Source,
    Exec,
    Command,
    /// `builtin`
    DirectCall,
    Nohup,
    Trap,
    Emulate,
    Alias,
    Unset,
    Read,
    /// `mapfile` and `readarray`.
    ReadLines,
    Set,
    /// `setopt` and `unsetopt`.
    SetOptions,
    Enable,
    Declare(Declaration),
    /// A modifier of zsh, which is followed by a command.
    PrecommandModifier,
    Time,
    Repeat,
    /// A builtin that runs in the shell by its table.
    ByTable,
}

/// A builtin that declares variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Declaration {
    /// `declare` and `typeset`.
    Any,
    Export,
    Readonly,
    Local,
    Global,
    /// `integer` and `float`.
    Number,
    Reference,
}

impl Builtin {
    /// Returns the builtin with a name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            ":" => Self::Null,
            "true" | "false" => Self::TrueOrFalse,
            "break" | "continue" | "return" | "exit" | "logout" | "bye" => Self::Exit,
            "shift" => Self::Shift,
            "wait" => Self::Wait,
            "eval" => Self::Eval,
            "source" | "." => Self::Source,
            "exec" => Self::Exec,
            "command" => Self::Command,
            "builtin" => Self::DirectCall,
            "nohup" => Self::Nohup,
            "trap" => Self::Trap,
            "emulate" => Self::Emulate,
            "alias" => Self::Alias,
            "unset" => Self::Unset,
            "read" => Self::Read,
            "mapfile" | "readarray" => Self::ReadLines,
            "set" => Self::Set,
            "setopt" | "unsetopt" => Self::SetOptions,
            "enable" => Self::Enable,
            "declare" | "typeset" => Self::Declare(Declaration::Any),
            "export" => Self::Declare(Declaration::Export),
            "readonly" => Self::Declare(Declaration::Readonly),
            "local" => Self::Declare(Declaration::Local),
            "global" => Self::Declare(Declaration::Global),
            "integer" | "float" => Self::Declare(Declaration::Number),
            "nameref" => Self::Declare(Declaration::Reference),
            "noglob" | "nocorrect" => Self::PrecommandModifier,
            "time" => Self::Time,
            "repeat" => Self::Repeat,
            "compgen" | "complete" | "jobs" | "times" | "hash" | "autoload" => Self::ByTable,
            _ => return None,
        })
    }

    /// Returns the declaration that a name means.
    pub(crate) fn declaration(name: &str) -> Option<Declaration> {
        match Self::named(name) {
            Some(Self::Declare(declaration)) => Some(declaration),
            _ => None,
        }
    }

    /// Returns `true` if a command of this name may follow, and declares or runs something in this
    /// shell as it does without the builtin.
    pub(crate) fn precedes_declaration(self) -> bool {
        matches!(
            self,
            Self::Command | Self::DirectCall | Self::PrecommandModifier
        )
    }

    /// Returns `true` if some shell reads a command after this word wherever a command may begin.
    pub(crate) fn precedes_command(self) -> bool {
        matches!(
            self,
            Self::Command | Self::Exec | Self::PrecommandModifier | Self::Time
        )
    }

    /// Returns `true` if some shells keep the variables that are set for this builtin.
    pub(crate) fn keeps_variables(self) -> bool {
        matches!(
            self,
            Self::Null
                | Self::Exit
                | Self::Shift
                | Self::Eval
                | Self::Source
                | Self::Exec
                | Self::Command
                | Self::DirectCall
                | Self::Trap
                | Self::Unset
                | Self::Set
                | Self::Alias
                | Self::Wait
                | Self::ByTable
                | Self::Declare(_)
        )
    }

    /// Returns `true` if the command also runs a program of this name.
    pub(crate) fn is_also_program(self) -> bool {
        matches!(self, Self::TrueOrFalse | Self::Nohup)
    }

    /// Returns `true` if the command runs in the shell itself, according to its table.
    pub(crate) fn runs_in_shell_by_table(self) -> bool {
        matches!(self, Self::PrecommandModifier | Self::ByTable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{Program, Tables};

    #[test]
    fn every_declare_program_is_a_declaration_builtin() {
        let tables = Tables::embedded();
        for name in tables.names() {
            let function = tables.program(name).and_then(Program::function);
            let declares = function == Some("declare");
            assert_eq!(declares, Builtin::declaration(name).is_some(), "{name}");
        }
    }
}
