//! Facts about programs that users of the tables need, each a word of a table: what calls control, how a
//! program connects, what it does with files, where its output comes from.

/// Target that selected calls of a program control, by the key `controls` of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ControlTarget {
    /// The configuration and the hooks of git.
    Git,
    /// Programs that run later or at a start.
    Schedule,
    /// The login shell of a user.
    LoginShell,
    /// Keys of SSH.
    Ssh,
    /// The programs that names stand for.
    Programs,
    /// Processes by their ids, or process groups.
    ProcessIds,
    /// Processes whose names a regular expression matches.
    ProcessPatterns,
    /// Processes by their ids or by their names.
    ProcessNames,
    /// Services by their names.
    Services,
    /// All processes of the user or of the machine.
    AllProcesses,
    /// Processes whose memory, calls or terminal the program reads.
    InspectedProcesses,
    /// How the shell parses later commands.
    Parsing,
}

/// Data of a repository that selected calls of a program discard, by the key `discards` of a table.
///
/// A call may discard several of them. Files that a call deletes or overwrites by their names are not
/// among these data; they are effects on paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiscardedData {
    /// Uncommitted changes of all tracked files.
    Changes,
    /// Uncommitted changes of the tracked files that the operands name.
    ChangesOfOperands,
    /// Untracked files below the operands, or below the working directory without operands.
    Untracked,
    /// Among the untracked files, also those in folders without tracked files.
    UntrackedFolders,
    /// Among the untracked files, also ignored ones.
    Ignored,
    /// Among the untracked files, only ignored ones.
    OnlyIgnored,
    /// The stash that the operand names, or the latest one.
    Stash,
    /// All stashes.
    AllStashes,
    /// The branches that the operands name.
    Branches,
}

/// Words with which a client names the address to which it connects, by the key `client`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientAddress {
    /// One word: `localhost:3000`.
    OneWord,
    /// One word, or host and port as two words.
    TwoWords,
    /// Hosts whose usual ports the client scans without an option for ports.
    ScannedHost,
}

/// Operation on the files that the words of a call name, by the key `file_operation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileOperation {
    /// Copies files into a file or folder.
    Copy,
    /// Moves files into a file or folder, or renames them.
    Move,
    /// Makes links to files.
    Link,
    /// Deletes files, and folders only with an option.
    Delete,
    /// Makes or removes empty folders.
    EmptyFolder,
    /// Changes metadata, and no contents of files that exist.
    Metadata,
}

/// Source of the output of a program, by the key `output`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputSource {
    /// The words of the call, none of which names a file, or nothing.
    Words,
    /// The files among the words, and the words.
    Files,
    /// The program prints nothing to a pipe.
    Nothing,
}

/// Meaning of words that begin with `/` and name no path of the file system, by the key `slash_words`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SlashWords {
    /// Patterns of a script: `/x/d`.
    Patterns,
    /// Targets of the project, with two slashes: `//x:y`.
    Labels,
}
