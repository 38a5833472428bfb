//! Literals of `hooks-guard` that equal the name of a program.

use super::Exception;

/// Literals in a file, or in all files of a folder.
pub(crate) struct Group {
    /// The file, or the folder with `/` at its end, below `hooks-guard/src`.
    path: &'static str,
    /// Separated by blanks.
    literals: &'static str,
    reason: &'static str,
}

/// Literals with another meaning.
pub(crate) const OTHER_MEANINGS: &[Group] = &[
    Group {
        path: "acp/",
        literals: "cmd code command diff env goose id info kind move read source timeout type",
        reason: "fields and kinds of the Agent Client Protocol, and an agent",
    },
    Group {
        path: "audit/",
        literals: ". command hash id postgres time",
        reason: "columns, units of time and kinds of databases",
    },
    Group {
        path: "changes/",
        literals: "diff id source",
        reason: "fields of a change",
    },
    Group {
        path: "classify/",
        literals: "command http https stream timeout type",
        reason: "fields of a request to a model",
    },
    Group {
        path: "cli/",
        literals: "call command editor file help id limit next now pass serve time timeout true yes",
        reason: "options, columns and answers",
    },
    Group {
        path: "client.rs",
        literals: "code",
        reason: "a field of an answer",
    },
    Group {
        path: "doctor/",
        literals: "bash command false profiles ts",
        reason: "names of agents, fields of their settings and values of variables",
    },
    Group {
        path: "hook.rs",
        literals: "id",
        reason: "a field of an input",
    },
    Group {
        path: "http/",
        literals: ". command false file id limit timeout true wait",
        reason: "fields and values of requests and answers",
    },
    Group {
        path: "install/",
        literals: ". bash command http powershell timeout type",
        reason: "fields of agents' settings",
    },
    Group {
        path: "loss/",
        literals: ". HEAD false file",
        reason: "a folder, a file and values of settings of repositories, and a noun",
    },
    Group {
        path: "protocol/",
        literals: ". auggie bash claude cline cmd code codex command continue copilot crush \
                   cursor cursor-agent diff droid editor env exec exit file find gemini goose \
                   grep grok id jira kilo kimi letta ls md opencode openhands patch pi powershell \
                   profiles pwsh qwen read reset script set skill source stripe supabase task \
                   think timeout tree type vibe view wait windsurf write",
        reason: "names of agents, their tools, and fields of their inputs and settings",
    },
    Group {
        path: "replay/",
        literals: ". at code cmd command exec exit id info kilo kind opencode payload source time ts \
                   type",
        reason: "fields of transcripts, units of time and agents",
    },
    Group {
        path: "service.rs",
        literals: "guard",
        reason: "a name in the trail",
    },
    Group {
        path: "approval/derive.rs",
        literals: ".",
        reason: "a folder",
    },
    Group {
        path: "approval/package.rs",
        literals: "command import just ninja",
        reason: "a field, a statement and endings of files",
    },
    Group {
        path: "repository.rs",
        literals: "HEAD",
        reason: "a file of git",
    },
    Group {
        path: "rules/protect/commands.rs",
        literals: "fmt help test",
        reason: "commands of a program and of the guard",
    },
    Group {
        path: "rules/file.rs",
        literals: "command expect host test",
        reason: "fields of a file of rules",
    },
    Group {
        path: "rules/check.rs",
        literals: "grep ls read view write",
        reason: "names of tools",
    },
    Group {
        path: "rules/load.rs",
        literals: ".",
        reason: "a folder",
    },
    Group {
        path: "rules/paths.rs",
        literals: ".",
        reason: "a folder",
    },
    Group {
        path: "rules/scope.rs",
        literals: ".",
        reason: "a folder",
    },
    Group {
        path: "rules/protect/network.rs",
        literals: ". :",
        reason: "signs of names and addresses",
    },
    Group {
        path: "rules/protect/secrets.rs",
        literals: ".",
        reason: "a folder",
    },
    Group {
        path: "rules/protect/process.rs",
        literals: "guard",
        reason: "a part of the name of the guard's process",
    },
];

/// Literals that name programs. The list only shrinks: a new fact about a program is a key of its table.
pub(crate) const PROGRAMS: &[Group] = &[
    Group {
        path: "rules/allow.rs",
        literals: "alias set",
        reason: "an alias changes the parsing of later commands with another reason; `set` and its harmless options",
    },
    Group {
        path: "rules/context.rs",
        literals: "set",
        reason: "`set NAME=VALUE` of the Windows command shell",
    },
    Group {
        path: "rules/protect/commands.rs",
        literals: "cargo",
        reason: "a build of the package of the guard",
    },
    Group {
        path: "rules/protect/files.rs",
        literals: "git",
        reason: "a word that names the repository",
    },
    Group {
        path: "rules/suggest/call.rs",
        literals: "git",
        reason: "the operands of one command are files",
    },
    Group {
        path: "tool_analysis.rs",
        literals: "curl",
        reason: "the program whose table judges addresses of tools",
    },
];

pub(crate) const OTHER_MEANINGS_COUNT: usize = 173;
pub(crate) const PROGRAMS_COUNT: usize = 7;

/// Returns the number of literals in groups.
pub(crate) fn count(groups: &[Group]) -> usize {
    groups
        .iter()
        .map(|group| group.literals.split_whitespace().count())
        .sum()
}

pub(crate) fn exceptions() -> Vec<Exception> {
    let groups = OTHER_MEANINGS.iter().chain(PROGRAMS);
    groups
        .flat_map(|group| {
            let literals = group.literals.split_whitespace();
            literals.map(|literal| (literal, group.path, group.reason))
        })
        .collect()
}
