//! Names of the tables in the folder `languages`: a name in code in, `true` out if harmless code
//! may use it; a text in, the words that delete or change something out.

use crate::tables::Set;

/// Words that name the effect of code in any language.
#[derive(Debug)]
pub(super) struct EffectWords {
    pub(super) deletes: &'static [&'static str],
    pub(super) updates: &'static [&'static str],
    pub(super) shells: &'static [&'static str],
    pub(super) facts: &'static [&'static str],
    pub(super) facts_behind: &'static [&'static str],
    pub(super) environments: Set,
}

/// Words of awk.
#[derive(Debug)]
pub(super) struct Awk {
    pub(super) prints: Set,
    pub(super) before_an_operand: Set,
    pub(super) before_either: Set,
    pub(super) shells: Set,
}

/// Commands of the Windows command shell by effect, in small letters.
#[derive(Debug)]
pub(super) struct Cmd {
    pub(super) deletes: Set,
    pub(super) reads: Set,
    pub(super) creates: Set,
    pub(super) updates: Set,
    pub(super) runs: Set,
    /// Commands whose name may be followed by a dot without a blank: `echo.`, `cd..`.
    pub(super) dotted: Set,
    /// Commands that read only without a word after them.
    pub(super) reads_alone: Set,
    /// Commands that write a file with `/o`.
    pub(super) sorts: Set,
    /// Commands that change a setting with `=`.
    pub(super) assigns: Set,
}

/// Commands of PowerShell by effect, in small letters.
#[derive(Debug)]
pub(super) struct PowerShell {
    pub(super) reads: Set,
    pub(super) requests: Set,
    pub(super) deletes: Set,
    pub(super) updates: Set,
    pub(super) creates: Set,
    pub(super) runs: Set,
    pub(super) evaluates: Set,
    pub(super) lists: Set,
    pub(super) secrets: Set,
    pub(super) each: Set,
    pub(super) properties: Set,
    pub(super) parameters: Set,
    pub(super) programs: Set,
    pub(super) aliases: Set,
    pub(super) verbs: Set,
    pub(super) request_commands: Set,
    pub(super) read_commands: Set,
    pub(super) create_commands: Set,
    pub(super) update_commands: Set,
    pub(super) read_verbs: Set,
    pub(super) delete_verbs: Set,
    pub(super) update_verbs: Set,
    pub(super) run_verbs: Set,
    pub(super) create_verbs: Set,
}

/// Functions of SQL that change nothing.
#[derive(Debug)]
pub(super) struct Sql {
    pub(super) pure: Set,
    pub(super) pure_kinds: &'static [&'static str],
}

/// Kinds of nodes of parsers, and names that are part of a language.
#[derive(Debug)]
pub(super) struct Syntax {
    pub(super) python_kinds: Set,
    pub(super) python_builtins: Set,
    pub(super) javascript_expressions: Set,
    pub(super) javascript_statements: Set,
    pub(super) javascript_accessors: Set,
}

/// Names that harmless code of a language may use.
#[derive(Debug)]
pub(super) struct CodeNames {
    pub(super) modules: Set,
    calls: Set,
    values: Set,
    pub(super) methods: Set,
    pub(super) attributes: Set,
}

/// The words of which harmless lines of a language are made.
#[derive(Debug)]
pub(super) struct Words {
    pub(super) perl: Set,
    pub(super) perl_before_an_operand: Set,
    pub(super) ruby: Set,
    pub(super) php: Set,
    pub(super) lua: Set,
}

/// Methods of the shell of a document database by effect, in small letters.
#[derive(Debug)]
pub(super) struct Mongo {
    pub(super) deletes: &'static [&'static str],
    pub(super) updates: &'static [&'static str],
    pub(super) creates: &'static [&'static str],
    pub(super) reaches: &'static [&'static str],
    pub(super) reads: Set,
}

include!(concat!(env!("OUT_DIR"), "/languages.rs"));

impl EffectWords {
    /// Returns `true` if the name of a file, between two parts of a script, is passed to a call
    /// that does not read the file.
    pub(super) fn says_facts(&self, before: &str, after: &str) -> bool {
        let call = self.facts.iter().any(|call| before.ends_with(call)) && after.starts_with(')');
        call || self.facts_behind.iter().any(|end| after.starts_with(end))
    }
}

impl CodeNames {
    pub(super) fn is_call(&self, path: &str) -> bool {
        self.calls.contains(path)
    }

    /// Returns the attributes after the first value of a path; empty if the path is that value.
    pub(super) fn of_value<'p>(&self, path: &'p str) -> Option<&'p str> {
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
    fn every_table_can_be_read() {
        assert!(ANY.deletes.iter().all(|word| !word.is_empty()));
        assert!(PYTHON.is_call("print") && JAVASCRIPT.is_call("console.log"));
        assert!(WORDS.perl.contains("print") && MONGO.reads.contains("find"));
    }

    #[test]
    fn a_path_is_that_of_the_longest_value() {
        assert_eq!(PYTHON.of_value("sys.version_info"), Some(""));
        assert_eq!(PYTHON.of_value("sys.version_info.major"), Some("major"));
        assert_eq!(PYTHON.of_value("os.remove"), None);
    }
}
