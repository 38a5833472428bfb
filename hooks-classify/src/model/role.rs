//! Roles of operands and of the values of options.

use super::language::Language;

/// What a program does with an operand or the value of an option.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Role {
    Text,
    Input,
    /// A file of which facts are printed, and not its contents.
    Name,
    /// A file that may name programs, unless it is one of the user's own.
    Settings,
    Output,
    Append,
    Update,
    Delete,
    Argv {
        more: bool,
    },
    Shell,
    Program,
    /// The name of something built in, or the path of code to load.
    Module,
    /// A program that shows what it is given: the usual ones do no more.
    Pager,
    Script(Language),
    ScriptFile,
    Url,
    Send,
    /// A line of the head of a request: `Name: value`.
    Header,
    /// Text that shapes what is printed, and leaves this machine not at all.
    Format,
    /// The server in the place of the user's own, which gets the user's credentials.
    Endpoint,
    /// The name of the machine that is spoken to, which may not be a word of an address.
    Host,
    Config,
    /// A whole request as JSON or YAML, whose members are options.
    Request,
    /// The name of a setting that is printed.
    Setting,
    /// A pattern of the names of files that are read.
    Filter,
    /// A file with the names of files that are read; `-` is the standard input.
    List,
    /// The folder in which the program runs, and its relative paths begin.
    Folder,
    /// The method of a request, as HTTP names them.
    Method,
}
