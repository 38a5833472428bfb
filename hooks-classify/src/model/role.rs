//! [`Role`]: the use of an operand or of the value of an option.

use super::language::Language;

/// Use of an operand or of the value of an option.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Role {
    Text,
    Input,
    /// A file whose metadata is printed, not its contents.
    Name,
    /// A file that may name programs, unless only the user can write it.
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
    /// The name of a built-in module, or the path of code to load.
    Module,
    /// A program that shows its input; well-known pagers run nothing else.
    Pager,
    Script(Language),
    ScriptFile,
    Url,
    Send,
    /// A header of a request: `Name: value`.
    Header,
    /// Text that formats the output and is never sent to another machine.
    Format,
    /// A server that replaces the user's own and gets the user's credentials.
    Endpoint,
    /// The host name of a server.
    Host,
    Config,
    /// A whole request as JSON or YAML; its members are options.
    Request,
    /// The name of a setting whose value is printed.
    Setting,
    /// A pattern of file names; files that match are read.
    Filter,
    /// A file with names of files to read; `-` is standard input.
    List,
    /// The working directory of the program.
    Folder,
    /// The HTTP method of a request.
    Method,
}
