//! Names of the tables in the folder `languages`: a name in code in, `true` out if harmless code
//! may use it; a text in, the words that delete or change something out.

use crate::tables::WordSet;

/// Words that name the effect of code in any language.
#[derive(Debug)]
pub(super) struct EffectWords {
    pub(super) deletes: &'static [&'static str],
    pub(super) updates: &'static [&'static str],
    pub(super) shells: &'static [&'static str],
    pub(super) metadata_calls: &'static [&'static str],
    pub(super) metadata_suffixes: &'static [&'static str],
    pub(super) environments: WordSet,
}

/// Words of awk.
#[derive(Debug)]
pub(super) struct AwkWords {
    pub(super) prints: WordSet,
    pub(super) before_an_operand: WordSet,
    pub(super) before_either: WordSet,
    pub(super) shells: WordSet,
}

/// Commands of the Windows command shell by effect, in small letters.
#[derive(Debug)]
pub(super) struct CmdCommands {
    pub(super) deletes: WordSet,
    pub(super) reads: WordSet,
    pub(super) creates: WordSet,
    pub(super) updates: WordSet,
    pub(super) runs: WordSet,
    /// Commands whose name may be followed by a dot without a blank: `echo.`, `cd..`.
    pub(super) dotted: WordSet,
    /// Commands that read only without a word after them.
    pub(super) reads_alone: WordSet,
    /// Commands that write a file with `/o`.
    pub(super) sorts: WordSet,
    /// Commands that change a setting with `=`.
    pub(super) assigns: WordSet,
}

/// Commands of PowerShell by effect, in small letters.
#[derive(Debug)]
pub(super) struct PowerShellNames {
    pub(super) reads: WordSet,
    pub(super) requests: WordSet,
    pub(super) deletes: WordSet,
    pub(super) updates: WordSet,
    pub(super) creates: WordSet,
    pub(super) runs: WordSet,
    pub(super) evaluates: WordSet,
    pub(super) lists: WordSet,
    pub(super) secrets: WordSet,
    pub(super) each: WordSet,
    pub(super) properties: WordSet,
    pub(super) parameters: WordSet,
    pub(super) programs: WordSet,
    pub(super) aliases: WordSet,
    pub(super) verbs: WordSet,
    pub(super) request_commands: WordSet,
    pub(super) read_commands: WordSet,
    pub(super) create_commands: WordSet,
    pub(super) update_commands: WordSet,
    pub(super) read_verbs: WordSet,
    pub(super) delete_verbs: WordSet,
    pub(super) update_verbs: WordSet,
    pub(super) run_verbs: WordSet,
    pub(super) create_verbs: WordSet,
}

/// Functions of SQL that change nothing.
#[derive(Debug)]
pub(super) struct SqlFunctions {
    pub(super) pure: WordSet,
    /// Tables and columns that hold passwords.
    pub(super) secrets: WordSet,
    /// Tables of which `*` has a column with passwords.
    pub(super) secret_tables: WordSet,
    pub(super) pure_kinds: &'static [&'static str],
}

/// Kinds of nodes of parsers, and names that are part of a language.
#[derive(Debug)]
pub(super) struct SyntaxKinds {
    pub(super) python_kinds: WordSet,
    pub(super) python_builtins: WordSet,
    pub(super) javascript_expressions: WordSet,
    pub(super) javascript_statements: WordSet,
    pub(super) javascript_accessors: WordSet,
}

/// Names that harmless code of a language may use.
#[derive(Debug)]
pub(super) struct CodeNames {
    pub(super) modules: WordSet,
    calls: WordSet,
    values: WordSet,
    pub(super) methods: WordSet,
    pub(super) attributes: WordSet,
}

/// The words of which harmless lines of a language are made.
#[derive(Debug)]
pub(super) struct LineWords {
    pub(super) perl: WordSet,
    pub(super) perl_before_an_operand: WordSet,
    pub(super) ruby: WordSet,
    pub(super) php: WordSet,
    pub(super) lua: WordSet,
}

/// Methods of the shell of a document database by effect, in small letters.
#[derive(Debug)]
pub(super) struct MongoMethods {
    pub(super) deletes: &'static [&'static str],
    pub(super) updates: &'static [&'static str],
    pub(super) creates: &'static [&'static str],
    pub(super) reaches: &'static [&'static str],
    pub(super) reads: WordSet,
}

include!(concat!(env!("OUT_DIR"), "/languages.rs"));

impl EffectWords {
    /// Returns `true` if the name of a file, between two parts of a script, is passed to a call
    /// that does not read the file.
    pub(super) fn reads_only_metadata(&self, before: &str, after: &str) -> bool {
        let call = self
            .metadata_calls
            .iter()
            .any(|call| before.ends_with(call))
            && after.starts_with(')');
        call || self
            .metadata_suffixes
            .iter()
            .any(|end| after.starts_with(end))
    }
}

impl CodeNames {
    pub(super) fn is_call(&self, path: &str) -> bool {
        self.calls.contains(path)
    }

    /// Returns the attributes after the first value of a path; empty if the path is that value.
    pub(super) fn attributes_of_value<'p>(&self, path: &'p str) -> Option<&'p str> {
        if self.values.contains(path) {
            return Some("");
        }
        let dots = path.match_indices('.').map(|(at, _)| at);
        let mut dots: Vec<usize> = dots.collect();
        dots.reverse();
        let at = dots
            .into_iter()
            .find(|at| self.values.contains(&path[..*at]))?;
        Some(&path[at + 1..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_table_loads() {
        assert!(ANY.deletes.iter().all(|word| !word.is_empty()));
        assert!(PYTHON.is_call("print") && JAVASCRIPT.is_call("console.log"));
        assert!(WORDS.perl.contains("print") && MONGO.reads.contains("find"));
    }

    #[test]
    fn attributes_follow_the_longest_matching_value() {
        assert_eq!(PYTHON.attributes_of_value("sys.version_info"), Some(""));
        assert_eq!(
            PYTHON.attributes_of_value("sys.version_info.major"),
            Some("major")
        );
        assert_eq!(PYTHON.attributes_of_value("os.remove"), None);
    }
}
