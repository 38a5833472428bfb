//! Interpreter of scripts: a script in, findings and parts out. It follows the commands of the script
//! in the order in which a shell would run them, and executes none.
//!
//! `programs/` and `languages/` return an analysis of a call or a text. Only the interpreter follows
//! the commands and texts that an analysis names, so all recursion is in this layer. A method named
//! `run_…` follows a command; it starts no process.
//!
//! State:
//!
//! - `fixpoint`: the entry point; repeats the walk until the values of variables are stable
//! - `interpreter`: parses a text and follows its script
//! - `state`: environment of the shell, functions in progress, paths of the current pipeline
//! - `cursor`: position in the text, depth, number of commands, and their limits
//! - `sink`: collects findings and parts, and returns the trace of the command
//! - `recorder`: records the parts
//!
//! Syntax:
//!
//! - `script`: lists and pipelines
//! - `join`: branches and loops: the environments of their paths, joined
//! - `compound`: tests, groups, loops, conditions, function definitions
//! - `simple`: simple commands with their assignments, words and redirections
//! - `redirect`: redirections: the input of a command, the files that it writes, its output
//! - `recovery`: commands in a text that the parsers reject or read differently
//!
//! Words and variables:
//!
//! - `words`: expands words; unknown parts are marked
//! - `expanded_word`: characters of a word with quotes and origin
//! - `matched_names`: names of files that fit the patterns of a command
//! - `braces`: brace expansion, by the rules of each shell
//! - `parameter`: expansions such as `${name:-word}`
//! - `evaluate`: arithmetic expressions and subscripts, which may contain code
//! - `assign`: assignments and their effects
//!
//! Commands:
//!
//! - `run`: looks up the first word: an alias, a function, a builtin, a program
//! - `builtin`: builtins of the shell
//! - `declare`: `declare`, `export`, `typeset`, `integer`
//! - `read`: `read`, `mapfile`, `readarray`
//! - `functions`: calls of functions, and functions that a shell or a program may call
//! - `call`: calls of programs, by their tables
//! - `perform`: the actions of an analysis
//! - `paths`: paths that one command prints and a later command may read
//! - `terminal`: further commands that a program takes from its terminal
//!
//! Spans of a finished walk:
//!
//! - `code_spans`: text that runs or may run
//! - `secret_spans`: secrets
//! - `source_text`: where words are written in the command
//! - `part_index`: relations of the parts

mod assign;
mod braces;
mod builtin;
mod call;
mod code_spans;
mod compound;
mod cursor;
mod declare;
mod evaluate;
mod expanded_word;
mod fixpoint;
mod functions;
pub(crate) mod interpreter;
mod join;
mod matched_names;
mod parameter;
mod part_index;
mod paths;
mod perform;
mod read;
pub(crate) mod recorder;
mod recovery;
mod redirect;
mod run;
mod script;
mod secret_spans;
mod simple;
mod sink;
mod source_text;
mod state;
mod terminal;
mod words;
