//! A single rule. In: a part of a request. Out: whether the rule applies to it.

use std::cell::LazyCell;

use globset::GlobMatcher;

use super::context::{RequestContext, base_name};
use super::paths::{Directory, MatchResult, PathPatterns, ResolvedPath, WordPattern, glob};
use super::project::{Project, RuleFolders};
use super::verdict::{Origin, RuleEffect};
use crate::classify::{Crud, Part, Tables, UNKNOWN};
use crate::request::{AgentTool, FileAccess, McpCall, McpTool, NetworkAccess};

/// A rule of a file.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) effect: RuleEffect,
    /// Place of the rule, such as `guard.toml:12`.
    pub(super) place: String,
    pub(super) origin: Origin,
    /// The project of the rules file; `None` for the user's file.
    pub(super) project: Option<Directory>,
    pub(super) conditions: Conditions,
    pub(super) reason: Option<String>,
    pub(super) tests: Vec<RuleTest>,
}

/// Conditions of a rule; an absent condition matches everything.
#[derive(Clone, Debug, Default)]
pub(super) struct Conditions {
    pub(super) program: Option<Vec<String>>,
    pub(super) subcommand: Option<Vec<Vec<String>>>,
    pub(super) arguments: Option<Vec<WordPattern>>,
    /// Patterns that no word may match; only in `allow` rules.
    pub(super) except: Option<Vec<WordPattern>>,
    pub(super) path: Option<PathPatterns>,
    /// Directories that contain every file; only in `allow` rules.
    pub(super) within: Option<RuleFolders>,
    /// Directories that do not contain one of the files; only in `ask` and `deny` rules.
    pub(super) outside: Option<RuleFolders>,
    pub(super) class: Option<Vec<Crud>>,
    pub(super) tool: Option<Vec<String>>,
    pub(super) host: Option<Vec<HostPattern>>,
    pub(super) mcp: Option<Vec<McpPattern>>,
    pub(super) agent: Option<Vec<String>>,
    pub(super) redirections: Redirections,
    pub(super) environment: Vec<WordPattern>,
    pub(super) substitutions: bool,
}

/// The redirections that an `allow` rule accepts.
#[derive(Clone, Debug, Default)]
pub(super) struct Redirections {
    pub(super) paths: PathPatterns,
    pub(super) documents: bool,
    pub(super) pipes: bool,
}

/// A test case of a rule.
#[derive(Clone, Debug)]
pub(super) struct RuleTest {
    pub(super) line: usize,
    pub(super) what: TestInput,
    pub(super) agent: Option<String>,
    pub(super) expect: RuleEffect,
}

#[derive(Clone, Debug)]
pub(super) enum TestInput {
    Command(String),
    File {
        tool: String,
        path: String,
    },
    /// A tool of an agent that runs no command and names no file.
    Tool(String),
    Host(String),
    Mcp(McpTool),
}

/// Pattern of tools of MCP servers: `SERVER/TOOL`, in which `*` matches any text.
#[derive(Clone, Debug)]
pub(super) struct McpPattern {
    pub(super) server: String,
    servers: GlobMatcher,
    tools: GlobMatcher,
}

impl McpPattern {
    /// Parses a pattern. An error describes the mistake and its remedy.
    pub(super) fn new(text: &str) -> Result<Self, (String, String)> {
        let Some((server, tool)) = mcp_tool(text) else {
            return Err((
                format!("`{text}` is not a tool of an MCP server"),
                "write the server and the tool, such as `github/create_issue` or `github/*`"
                    .to_owned(),
            ));
        };
        Ok(Self {
            server: server.to_owned(),
            servers: glob(server, false)?.compile_matcher(),
            tools: glob(tool, false)?.compile_matcher(),
        })
    }

    /// Returns `true` if this pattern is known to match every tool that another pattern matches: its
    /// server and its tool are `*`, or have the text of the other pattern.
    pub(super) fn covers(&self, other: &Self) -> bool {
        let covers = |one: &GlobMatcher, other: &GlobMatcher| {
            one.glob().glob() == "*" || one.glob() == other.glob()
        };
        covers(&self.servers, &other.servers) && covers(&self.tools, &other.tools)
    }

    fn matches(&self, one: &McpTool) -> bool {
        self.servers.is_match(&one.server) && self.tools.is_match(&one.tool)
    }
}

/// Splits `SERVER/TOOL`.
pub(super) fn mcp_tool(text: &str) -> Option<(&str, &str)> {
    let (server, tool) = text.split_once('/')?;
    (!server.is_empty() && !tool.is_empty()).then_some((server, tool))
}

/// Pattern of host names: one host, or with `*.` in front all hosts below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HostPattern(String);

impl HostPattern {
    /// Parses a pattern. An error describes the mistake.
    pub(super) fn new(text: &str) -> Result<Self, &'static str> {
        let name = text.strip_prefix("*.").unwrap_or(text);
        match is_host(name) {
            true => Ok(Self(text.to_ascii_lowercase())),
            false => Err("is not a host"),
        }
    }

    /// Returns `true` if a host matches. A text that is not a plain host name or address never
    /// matches.
    fn matches(&self, host: &str) -> bool {
        let host = host.strip_suffix('.').unwrap_or(host);
        if !is_host(host) {
            return false;
        }
        match self.0.strip_prefix('*') {
            Some(below) => host.len() > below.len() && host.ends_with(below),
            None => host == self.0,
        }
    }
}

/// Returns `true` if a text is a plain host name or address.
fn is_host(text: &str) -> bool {
    let address = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    match address {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !text.is_empty() && text.chars().all(plain),
    }
}

impl Rule {
    /// Returns `false` for an `allow` rule of a file that the user does not trust.
    pub(super) fn counts(&self) -> bool {
        self.effect != RuleEffect::Allow
            || !matches!(self.origin, Origin::Project { trusted: false })
    }

    pub(super) fn base<'s>(&'s self, context: &'s RequestContext<'_>) -> &'s Directory {
        self.project.as_ref().unwrap_or(&context.base)
    }

    pub(super) fn agent(&self, context: &RequestContext<'_>) -> MatchResult {
        match (&self.conditions.agent, &context.request.agent) {
            (None, _) => MatchResult::Yes,
            (Some(list), Some(agent)) => MatchResult::of(list.contains(agent)),
            // A request without an agent may come from that agent.
            (Some(_), None) => MatchResult::Unknown,
        }
    }

    /// Returns whether the rule applies to a file that a tool touches.
    pub(super) fn match_file(
        &self,
        context: &RequestContext<'_>,
        file: &FileAccess,
        path: &str,
    ) -> MatchResult {
        let Conditions {
            program,
            subcommand,
            arguments,
            class,
            tool,
            path: paths,
            within,
            outside,
            ..
        } = &self.conditions;
        let other = program.is_some() || subcommand.is_some() || arguments.is_some();
        if other || self.is_of_other_requests() {
            return MatchResult::No;
        }
        if !tool
            .as_ref()
            .is_none_or(|tools| names_tool(tools, &file.tool))
            || !class
                .as_ref()
                .is_none_or(|class| class.contains(&file.effect))
        {
            return MatchResult::No;
        }
        let mut holds = self.agent(context).min(self.match_project(context));
        if paths.is_some() || within.is_some() || outside.is_some() {
            let located = context.start.locate(path);
            holds = holds.min(self.match_folders(context, &located));
            if let Some(paths) = paths {
                let base = self.base(context);
                holds = holds.min(match self.effect {
                    RuleEffect::Allow => MatchResult::of(paths.match_all(&located, base)),
                    RuleEffect::Ask | RuleEffect::Deny => paths.may_match(&located, base),
                });
            }
        }
        holds
    }

    /// Returns whether a file matches `within` and `outside`.
    fn match_folders(&self, context: &RequestContext<'_>, path: &ResolvedPath) -> MatchResult {
        let Conditions {
            within, outside, ..
        } = &self.conditions;
        let within = within.as_ref().map(|folders| {
            let mut names = path.names.iter();
            folders.hold(context.project(), path)
                && !Project::is_of_git(path)
                && !names.any(|name| Tables::embedded().is_secret(name))
        });
        let outside = outside
            .as_ref()
            .map(|folders| match folders.hold(context.project(), path) {
                true => MatchResult::No,
                false if path.known() => MatchResult::Yes,
                false => MatchResult::Unknown,
            });
        let within = within.map_or(MatchResult::Yes, MatchResult::of);
        within.min(outside.unwrap_or(MatchResult::Yes))
    }

    /// Returns `true` if the rule names programs.
    pub(super) fn names_programs(&self) -> bool {
        self.conditions.program.is_some()
    }

    /// Returns whether the rule applies to access to the network. An `allow` rule must name the
    /// host.
    pub(super) fn match_network(
        &self,
        context: &RequestContext<'_>,
        access: &NetworkAccess,
    ) -> MatchResult {
        let hosts = match &self.conditions.host {
            Some(hosts) => MatchResult::of(hosts.iter().any(|host| host.matches(&access.host))),
            None if self.effect == RuleEffect::Allow => MatchResult::No,
            None => self.restricts_all(context),
        };
        hosts
            .min(self.agent(context))
            .min(self.match_project(context))
    }

    /// Returns `true` if the rule is for network access or for tools of MCP servers.
    pub(super) fn is_of_other_requests(&self) -> bool {
        self.conditions.host.is_some() || self.conditions.mcp.is_some()
    }

    /// Returns whether the rule applies to a call of a tool of an MCP server. An `allow` rule must
    /// name the tool, in every way to read its name. A rule for a class does not apply, because the
    /// class of a call is unknown.
    pub(super) fn match_mcp(&self, context: &RequestContext<'_>, call: &McpCall) -> MatchResult {
        let is_named = |patterns: &Vec<McpPattern>| {
            let named = |one: &McpTool| patterns.iter().any(|pattern| pattern.matches(one));
            match self.effect {
                RuleEffect::Allow => call.tools.iter().all(named),
                RuleEffect::Ask | RuleEffect::Deny => call.tools.iter().any(named),
            }
        };
        let names = match &self.conditions.mcp {
            Some(patterns) => MatchResult::of(is_named(patterns)),
            None if self.effect == RuleEffect::Allow => MatchResult::No,
            None if self.conditions.class.is_some() || call.runs_command => MatchResult::No,
            None => self.restricts_all(context),
        };
        names
            .min(self.agent(context))
            .min(self.match_project(context))
    }

    /// Returns whether the rule applies to a call of a tool of the agent that runs no command and names no
    /// file. An `allow` rule must name the tool. A rule for files or for a class does not apply.
    pub(super) fn match_tool(&self, context: &RequestContext<'_>, tool: &AgentTool) -> MatchResult {
        let Conditions {
            class,
            tool: tools,
            path,
            within,
            outside,
            ..
        } = &self.conditions;
        let of_files = path.is_some() || within.is_some() || outside.is_some();
        let names = match tools {
            _ if of_files || class.is_some() => MatchResult::No,
            Some(tools) => MatchResult::of(names_tool(tools, &tool.name)),
            None if self.effect == RuleEffect::Allow => MatchResult::No,
            None => self.restricts_all(context),
        };
        names
            .min(self.agent(context))
            .min(self.match_project(context))
    }

    /// Returns whether the request is in the rule's project: a project's `allow` rule applies only
    /// there.
    pub(super) fn match_project(&self, context: &RequestContext<'_>) -> MatchResult {
        let Some(project) = self
            .project
            .as_ref()
            .filter(|_| self.effect == RuleEffect::Allow)
        else {
            return MatchResult::Yes;
        };
        MatchResult::of(
            context
                .start
                .folders
                .iter()
                .all(|folder| project.holds(folder)),
        )
    }

    /// Returns whether a restricting rule applies, or may apply, to a part of a command.
    pub(super) fn restricts(&self, context: &RequestContext<'_>, part: &Part) -> MatchResult {
        let wanted = &self.conditions;
        if wanted.tool.is_some() || self.is_of_other_requests() {
            return MatchResult::No;
        }
        let mut holds = self.agent(context);
        if let Some(class) = &wanted.class {
            holds = holds.min(MatchResult::of(class.contains(&part.effect)));
        }
        if let Some(programs) = &wanted.program {
            holds = holds.min(names(part, programs));
        }
        if let Some(subcommands) = &wanted.subcommand {
            holds = holds.min(match_subcommand(part, subcommands));
        }
        if holds > MatchResult::No
            && let Some(arguments) = &wanted.arguments
        {
            holds = holds.min(self.match_arguments(context, part, arguments));
        }
        let touched = LazyCell::new(|| context.touched_paths(part));
        if holds > MatchResult::No
            && let Some(paths) = &wanted.path
        {
            let base = self.base(context);
            let concern = touched.iter().map(|path| paths.may_match(path, base));
            holds = holds.min(concern.max().unwrap_or(MatchResult::No));
        }
        if holds > MatchResult::No
            && let Some(folders) = &wanted.outside
        {
            let directories = context.start.folders.iter().map(|folder| {
                match folders.hold_name(context.project(), folder) {
                    true => MatchResult::No,
                    false if folder.contains(UNKNOWN) => MatchResult::Unknown,
                    false => MatchResult::Yes,
                }
            });
            let files = touched.iter();
            let files = files.map(|path| self.match_folders(context, path));
            holds = holds.min(directories.chain(files).max().unwrap_or(MatchResult::No));
        }
        holds
    }

    /// Returns whether one of the arguments matches, or may match, one of the patterns, in any
    /// spelling that the tables know.
    pub(super) fn match_arguments(
        &self,
        context: &RequestContext<'_>,
        part: &Part,
        patterns: &[WordPattern],
    ) -> MatchResult {
        let base = self.base(context);
        let fits = |text: &str| {
            let mut patterns = patterns.iter();
            patterns.any(|one| one.is_match(text) || context.argument_fits(base, one, text))
        };
        let options = part.calls.iter().flat_map(|call| &call.options);
        let named = options.flat_map(|(name, value)| {
            let value = value.as_ref().map(|value| value.text.as_str());
            std::iter::once(name.as_str()).chain(value)
        });
        let words = part.words.iter().skip(1);
        if words
            .clone()
            .map(|word| word.text.as_str())
            .chain(named)
            .any(fits)
        {
            MatchResult::Yes
        } else if words.into_iter().any(|word| !word.known) {
            MatchResult::Unknown
        } else {
            MatchResult::No
        }
    }

    /// Returns whether a restricting rule applies to the request as a whole, independent of its
    /// parts.
    pub(super) fn restricts_all(&self, context: &RequestContext<'_>) -> MatchResult {
        let Conditions {
            program,
            subcommand,
            arguments,
            class,
            tool,
            path,
            ..
        } = &self.conditions;
        let particular = program.is_some()
            || subcommand.is_some()
            || arguments.is_some()
            || tool.is_some()
            || self.is_of_other_requests()
            || self.conditions.outside.is_some()
            || path.is_some();
        if particular {
            return MatchResult::No;
        }
        let crud = context.found.classification.crud;
        let class = class.as_ref().is_none_or(|class| class.contains(&crud));
        MatchResult::of(class).min(self.agent(context))
    }
}

fn names_tool(tools: &[String], name: &str) -> bool {
    tools.iter().any(|tool| tool.eq_ignore_ascii_case(name))
}

/// Value of `program` that matches every program, in rules that ask or deny.
pub(super) const EVERY_PROGRAM: &str = "*";

/// Returns `true` if two paths of programs are equal, also if one of them begins with `./`. Without
/// `./` or another folder, a shell looks for the name in `PATH`, so `./x` and `x` differ.
pub(super) fn is_same_path(one: &str, other: &str) -> bool {
    let without_dot = |path: &str| match path.strip_prefix("./") {
        Some(rest) if rest.contains('/') && !rest.starts_with('/') => rest.to_owned(),
        _ => path.to_owned(),
    };
    one == other || without_dot(one) == without_dot(other)
}

/// Returns whether a part is, or may be, one of these programs.
fn names(part: &Part, programs: &[String]) -> MatchResult {
    let Some(first) = part.words.first() else {
        return MatchResult::No;
    };
    let plain = |name: &str| {
        let name = name.to_ascii_lowercase();
        name.strip_suffix(".exe")
            .map_or(name.clone(), str::to_owned)
    };
    let same = |text: &str| {
        programs.iter().any(|program| match program.contains('/') {
            true => is_same_path(text, program),
            false => plain(base_name(text)) == plain(program),
        })
    };
    let stands_for = part.calls.iter().filter_map(|call| call.path.first());
    let every = programs.iter().any(|program| program == EVERY_PROGRAM);
    if every || same(&first.text) || stands_for.into_iter().any(|name| same(name)) {
        MatchResult::Yes
    } else if first.known {
        MatchResult::No
    } else {
        MatchResult::Unknown
    }
}

/// Returns whether a part has, or may have, one of the restricted subcommands.
fn match_subcommand(part: &Part, subcommands: &[Vec<String>]) -> MatchResult {
    let sequence = |words: &mut dyn Iterator<Item = &str>, wanted: &[String]| {
        let mut left = wanted.iter().peekable();
        for word in words {
            left.next_if(|next| *next == word);
        }
        left.peek().is_none()
    };
    let in_call = |wanted: &[String]| {
        part.calls.iter().any(|call| {
            let operands = call.operands.iter().map(|o| o.text.as_str());
            let mut words = call.path.iter().skip(1).map(String::as_str).chain(operands);
            sequence(&mut words, wanted)
        })
    };
    let in_words = |wanted: &[String]| {
        let words = part.words.iter().skip(1).map(|word| word.text.as_str());
        let is_named = |word: &&str| !word.starts_with('-') || wanted.iter().any(|one| one == word);
        sequence(&mut words.filter(is_named), wanted)
    };
    let understood = part.is_understood();
    let yes = subcommands.iter().any(|wanted| match understood {
        // The table knows which words are subcommands; the first of them decides.
        true => part.calls.iter().any(|call| {
            let operands = call.operands.iter().map(|o| o.text.as_str());
            let path = call.path.iter().skip(1).map(String::as_str);
            path.chain(operands)
                .take(wanted.len())
                .eq(wanted.iter().map(String::as_str))
        }),
        false => in_call(wanted) || in_words(wanted),
    });
    if yes {
        return MatchResult::Yes;
    }
    // An unknown word may be the subcommand, unless a known one precedes it.
    let command_known = part.calls.iter().any(|call| call.path.len() > 1);
    let unknown = part.words.iter().skip(1).any(|word| !word.known);
    MatchResult::of(false).max(match unknown && !command_known {
        true => MatchResult::Unknown,
        false => MatchResult::No,
    })
}
