//! The agents' own tools that run no command and name no file for the guard. In: an agent and the name of
//! a tool. Out: what the guard does about a call.
//!
//! With the shells and file tools of the agents' descriptions, the table is complete against the lists in
//! `tests/protocol/client_tools.json`, which `contrib/agents-lab/tools.mjs` writes.

use serde_json::Value;

use super::agent::Agent;
use super::input::JsonObject;
use super::tools::plain;
use crate::request::AgentToolEffect;

/// What the guard does about a call of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnTool {
    /// Nothing: the tool informs, keeps notes of the session or asks the user, or its calls of other
    /// tools reach the hook.
    Nothing,
    /// Nothing: the agents that it starts call the hook.
    Agents,
    /// Judges the addresses in the input as `curl` would be judged.
    Fetches,
    /// As `Fetches`; nothing without an address, because the tool then reads an image.
    FetchesOrReads,
    /// Asks for approval: the tool does this.
    Asks(&'static str),
}

use OwnTool::{Agents, Asks, Fetches, FetchesOrReads, Nothing};

const LATER: OwnTool = Asks("makes a prompt that runs later");
const ELSEWHERE: &str = "starts work on another machine";
const REMOTE: OwnTool = Asks(ELSEWHERE);
const SENDS: OwnTool = Asks("sends data of this machine to a service");
const RUNS_CODE: OwnTool = Asks("runs code that the guard does not read");
const WORKTREE: OwnTool = Asks("makes a worktree, in which the session continues");
const SESSION: OwnTool = Asks("starts another session");
const UNHOOKED: OwnTool = Asks("starts an agent whose tools do not call the hook");
const RUNS_SKILL: OwnTool = Asks("runs the commands in a skill without the hook");
const BROWSES: OwnTool = Asks("acts in a browser");
const TYPES: OwnTool = Asks("types into a running program");
const SETTINGS: OwnTool = Asks("prepares a change of the agent's settings");
const REMEMBERS: OwnTool = Asks("writes to a memory that later sessions read");
const EXTENDS: OwnTool = Asks("starts or stops an extension of the agent");
const UNSEEN: OwnTool = Asks("starts or directs an agent that does not call the hook");
const STARTS_SESSIONS: OwnTool = Asks("starts or directs other sessions of the agent");
const GIT: OwnTool = Asks("changes the repository and its worktrees with git");
const ACCOUNT: OwnTool = Asks("acts at a service with the account of the user");
const MAKES_FILES: OwnTool = Asks("makes files whose places the guard does not know");

/// The tools of an agent by what the guard does.
type OwnTools = &'static [(OwnTool, &'static [&'static str])];

/// The agents with a complete list of tools. A name that ends in `*` is the start of names. The order
/// is that of [`Agent::ALL`].
const TOOLS: &[(Agent, OwnTools)] = &[
    (
        Agent::ClaudeCode,
        &[
            (
                Nothing,
                &[
                    "ArtifactCheck",
                    "ArtifactComments",
                    "ArtifactData",
                    "AskUserQuestion",
                    "BashOutput",
                    "ConnectGitHub",
                    "CronDelete",
                    "CronList",
                    "DeferredToolPlaceholder",
                    "EndConversation",
                    "EnterPlanMode",
                    "ExitPlanMode",
                    "ExitWorktree",
                    "FetchInboxMessage",
                    "GetGoal",
                    "GetTask",
                    "KillShell",
                    "LSP",
                    "ListAgents",
                    "ListConnectors",
                    "ListMcpResourcesTool",
                    "ListPlugins",
                    "McpTaskCheck",
                    "McpTaskResumePolling",
                    "McpTaskShowQuestion",
                    "ObserverReport",
                    "OfferAccountContent",
                    "OfferChromeSetup",
                    "PauseGoal",
                    "Poll",
                    "PushNotification",
                    "ReadMcpResourceDirTool",
                    "ReadMcpResourceTool",
                    "ReadNotifications",
                    "ReadWidgetContext",
                    "RefreshMcpTools",
                    "ReportFindings",
                    "SearchMcpRegistry",
                    "SearchPlugins",
                    "SearchSkills",
                    "SendUserMessage",
                    "SetGoal",
                    "ShowOnboardingRolePicker",
                    "Skill",
                    "StructuredOutput",
                    "SubagentHandback",
                    "SuggestConnectors",
                    "SuggestPluginInstall",
                    "SuggestSkills",
                    "TaskCreate",
                    "TaskGet",
                    "TaskList",
                    "TaskOutput",
                    "TaskStop",
                    "TaskUpdate",
                    "TodoWrite",
                    "ToolSearch",
                    "WaitForMcpServers",
                    "WebSearch",
                    "WrapUp",
                    "memory_list",
                    "memory_read",
                    "propose_skills",
                    "self_hosted_runner_get_pool",
                    "self_hosted_runner_list_runners",
                    "self_hosted_runner_list_sessions",
                    "self_hosted_runner_read_health",
                    "self_hosted_runner_read_metrics",
                    "self_hosted_runner_tail_log",
                ],
            ),
            (
                Agents,
                &["Agent", "SendMessage", "Task", "TeamCreate", "TeamDelete"],
            ),
            (Fetches, &["WebFetch"]),
            (LATER, &["CronCreate", "ScheduleWakeup"]),
            (
                REMOTE,
                &[
                    "RemoteTrigger",
                    "self_hosted_runner_requeue_session",
                    "self_hosted_runner_spawn_local",
                ],
            ),
            (
                SENDS,
                &[
                    "ClaudeDesign",
                    "DesignSync",
                    "Projects",
                    "PublishPlugin",
                    "SendFeedback",
                    "SendFile",
                    "SendToProject",
                    "SendToProjectContext",
                    "SendUserFile",
                    "ShareOnboardingGuide",
                ],
            ),
            (RUNS_CODE, &["AppifactRepl", "REPL", "Workflow"]),
            (WORKTREE, &["EnterWorktree"]),
            (REMEMBERS, &["memory_write"]),
            (Asks("controls the computer"), &["request_computer"]),
            (
                Asks("lists secrets of a self-hosted runner"),
                &["self_hosted_runner_list_secrets"],
            ),
        ],
    ),
    (
        Agent::Codex,
        &[
            (
                Nothing,
                &[
                    "create_goal",
                    "get_goal",
                    "list_mcp_resource_templates",
                    "list_mcp_resources",
                    "read_mcp_resource",
                    "request_user_input",
                    "tool_search",
                    "update_goal",
                    "update_plan",
                    "web_search",
                    // It sends no event; see `types_into_programs`.
                    "write_stdin",
                ],
            ),
            (
                Agents,
                &[
                    "close_agent",
                    "resume_agent",
                    "send_input",
                    "spawn_agent",
                    "wait_agent",
                ],
            ),
        ],
    ),
    (
        Agent::Gemini,
        &[
            (
                Nothing,
                &[
                    "activate_skill",
                    "ask_user",
                    "complete_task",
                    "enter_plan_mode",
                    "exit_plan_mode",
                    "get_internal_docs",
                    "google_web_search",
                    "list_background_processes",
                    "list_mcp_resources",
                    "read_background_output",
                    "read_mcp_resource",
                    "take_snapshot",
                    "tracker_add_dependency",
                    "tracker_create_task",
                    "tracker_get_task",
                    "tracker_list_tasks",
                    "tracker_update_task",
                    "tracker_visualize",
                    "update_topic",
                    "write_todos",
                ],
            ),
            (Agents, &["invoke_agent"]),
            (Fetches, &["web_fetch"]),
        ],
    ),
    (
        Agent::Copilot,
        &[
            (
                Nothing,
                &[
                    "ask_user",
                    "exit_plan_mode",
                    "fetch_copilot_cli_documentation",
                    "list_bash",
                    "read_bash",
                    "report_intent",
                    // Databases of the session.
                    "session_store_sql",
                    "skill",
                    "sql",
                    "stop_bash",
                    "task_complete",
                    "update_todo",
                    "web_search",
                    // It sends no event; see `types_into_programs`.
                    "write_bash",
                ],
            ),
            (
                Agents,
                &["list_agents", "read_agent", "task", "write_agent"],
            ),
            (Fetches, &["web_fetch"]),
        ],
    ),
    (
        Agent::OpenCode,
        &[
            (
                Nothing,
                &[
                    "codesearch",
                    "lsp",
                    "plan_enter",
                    "plan_exit",
                    "question",
                    "skill",
                    "todoread",
                    "todowrite",
                    "websearch",
                ],
            ),
            (Agents, &["task"]),
            (Fetches, &["webfetch"]),
        ],
    ),
    (
        Agent::QwenCode,
        &[
            (
                Nothing,
                &[
                    "ask_user_question",
                    "cron_delete",
                    "cron_list",
                    "display_image",
                    "enter_plan_mode",
                    "exit_plan_mode",
                    "exit_worktree",
                    "get_goal",
                    "lsp",
                    "omni_caption_audio",
                    "omni_caption_image",
                    "omni_ocr_image",
                    "omni_recall_media_memory",
                    "omni_transcribe_audio",
                    "omni_understand_video_segments",
                    "propose_goal",
                    "read_mcp_resource",
                    "record_artifact",
                    "record_source",
                    "report_findings",
                    "skill",
                    "structured_output",
                    "task_create",
                    "task_list",
                    "task_stop",
                    "task_update",
                    "todo_write",
                    // The hook gets the called tool.
                    "tool_call",
                    "tool_search",
                    "update_goal",
                    "web_search",
                    "zoom_image",
                ],
            ),
            (
                Agents,
                &[
                    "agent",
                    "create_sub_session",
                    "list_agents",
                    "request_shutdown",
                    "send_message",
                    "team_create",
                    "team_delete",
                    "team_plan_approval",
                ],
            ),
            (Fetches, &["web_fetch"]),
            (LATER, &["cron_create", "loop_wakeup"]),
            (RUNS_CODE, &["exec", "workflow"]),
            (WORKTREE, &["enter_worktree"]),
            (REMEMBERS, &["save_memory"]),
            (
                MAKES_FILES,
                &[
                    "artifact",
                    "image_gen",
                    "omni_clip_audio",
                    "omni_clip_image",
                    "omni_clip_video",
                    "omni_convert_image",
                    "omni_downsample_audio",
                    "omni_downsample_image",
                    "omni_downscale_video",
                    "omni_extract_audio",
                    "omni_extract_keyframes",
                ],
            ),
        ],
    ),
    (
        Agent::Droid,
        &[
            (
                Nothing,
                &[
                    "AskUser",
                    "ConnectorSearch",
                    "DismissHandoffItems",
                    "EndFeatureRun",
                    "ExitMissionPlanning",
                    "ExitSpecMode",
                    "ProposeMission",
                    "RecommendMission",
                    "SelectFeature",
                    "Skill",
                    "TaskOutput",
                    "TaskStop",
                    "TodoWrite",
                    "ToolSearch",
                    "UpgradeSessionModel",
                    "WaitForScript",
                    "WebSearch",
                    "getIdeDiagnostics",
                ],
            ),
            (Agents, &["Task"]),
            (Fetches, &["FetchUrl"]),
            (REMOTE, &["StartMissionRun"]),
            (SETTINGS, &["StageSettingsChanges"]),
            (SENDS, &["ConnectApp", "store_agent_readiness_report"]),
            (RUNS_CODE, &["Script"]),
            (MAKES_FILES, &["GenerateDroid", "GenerateImage"]),
        ],
    ),
    (
        Agent::Grok,
        &[
            (
                Nothing,
                &[
                    "ask_user_question",
                    "enter_plan_mode",
                    "exit_plan_mode",
                    "get_command_or_subagent_output",
                    "kill_command_or_subagent",
                    "scheduler_delete",
                    "scheduler_list",
                    "search_tool",
                    "todo_write",
                    // The hook gets the called tool of the MCP server.
                    "use_tool",
                    "web_search",
                ],
            ),
            (Agents, &["spawn_subagent"]),
            (LATER, &["scheduler_create"]),
            (SENDS, &["send_feedback"]),
            (RUNS_CODE, &["workflow"]),
            (
                MAKES_FILES,
                &[
                    "image_edit",
                    "image_gen",
                    "image_to_video",
                    "reference_to_video",
                ],
            ),
        ],
    ),
    (
        Agent::Goose,
        &[
            (
                Nothing,
                &[
                    "apps__list_apps",
                    "chatrecall__chatrecall",
                    "extensionmanager__list_resources",
                    "extensionmanager__read_resource",
                    "extensionmanager__search_available_extensions",
                    "get_function_details",
                    "list_functions",
                    "load",
                    "load_skill",
                    "orchestrator__interrupt_agent",
                    "orchestrator__list_sessions",
                    "orchestrator__view_session",
                    "todo__todo_write",
                ],
            ),
            (FetchesOrReads, &["read_image"]),
            (RUNS_CODE, &["execute_typescript"]),
            (
                UNSEEN,
                &[
                    "delegate",
                    "orchestrator__send_message",
                    "orchestrator__start_agent",
                ],
            ),
            (EXTENDS, &["extensionmanager__manage_extensions"]),
            (
                MAKES_FILES,
                &["apps__create_app", "apps__delete_app", "apps__iterate_app"],
            ),
        ],
    ),
    (
        Agent::OpenHands,
        &[
            (
                Nothing,
                &[
                    "browser_close_tab",
                    "browser_get_content",
                    "browser_get_state",
                    "browser_get_storage",
                    "browser_go_back",
                    "browser_list_tabs",
                    "browser_scroll",
                    "browser_switch_tab",
                    "finish",
                    "task_tracker",
                    "think",
                ],
            ),
            (Fetches, &["browser_navigate"]),
            (UNHOOKED, &["delegate", "task"]),
            (RUNS_SKILL, &["invoke_skill"]),
            (
                BROWSES,
                &["browser_click", "browser_set_storage", "browser_type"],
            ),
            (
                MAKES_FILES,
                &["browser_start_recording", "browser_stop_recording"],
            ),
            (SENDS, &["sleeptime_compute", "tom_consult"]),
        ],
    ),
    (
        Agent::Cline,
        &[
            (
                Nothing,
                &[
                    "ask_question",
                    "skills",
                    "submit_and_exit",
                    "switch_to_act_mode",
                ],
            ),
            (
                Agents,
                &[
                    "spawn_agent",
                    "team_attach_outcome_fragment",
                    "team_await_runs",
                    "team_broadcast",
                    "team_cancel_run",
                    "team_cleanup",
                    "team_create_outcome",
                    "team_finalize_outcome",
                    "team_list_outcomes",
                    "team_list_runs",
                    "team_mission_log",
                    "team_read_mailbox",
                    "team_review_outcome_fragment",
                    "team_run_task",
                    "team_send_message",
                    "team_shutdown_teammate",
                    "team_spawn_teammate",
                    "team_status",
                    "team_task",
                ],
            ),
            (Fetches, &["fetch_web_content"]),
        ],
    ),
    (
        Agent::Pi,
        &[(
            Nothing,
            &[
                // The hook gets the tools that the script calls.
                "codemode",
                "list_mcp_resource_templates",
                "list_mcp_resources",
                "read_mcp_resource",
                "tool_search",
            ],
        )],
    ),
    (
        Agent::KimiCode,
        &[
            (
                Nothing,
                &[
                    "AskUserQuestion",
                    "CreateGoal",
                    "CronDelete",
                    "CronList",
                    "EnterPlanMode",
                    "ExitPlanMode",
                    "GetGoal",
                    "NotifyUser",
                    "SetGoalBudget",
                    "Skill",
                    "TaskList",
                    "TaskOutput",
                    "TaskStop",
                    "TodoList",
                    // Notes in `.tower/comms`.
                    "TowerFinding",
                    "TowerInbox",
                    "TowerMission",
                    "TowerPlan",
                    "TowerReview",
                    "TowerSend",
                    "TowerStatus",
                    "UpdateGoal",
                    "WaitFor",
                    "WebSearch",
                    "select_tools",
                ],
            ),
            (Agents, &["Agent", "AgentSwarm"]),
            (Fetches, &["FetchURL"]),
            (LATER, &["CronCreate"]),
            (
                GIT,
                &["TowerInit", "TowerMerge", "TowerSpawn", "TowerTeardown"],
            ),
        ],
    ),
    (
        Agent::KiloCode,
        &[
            (
                Nothing,
                &[
                    "agent_manager_models",
                    // Its command, if it starts one, is classified.
                    "background_process",
                    "board_post",
                    "board_read",
                    "cancel_wakeup",
                    "chart",
                    "compact",
                    "cron_delete",
                    "cron_list",
                    "get_context_info",
                    "goal",
                    "goal_report",
                    "kilo_local_recall",
                    "kilo_memory_recall",
                    "link_pr",
                    "lsp",
                    "open_plan",
                    "plan_exit",
                    "question",
                    "skill",
                    "suggest",
                    "todowrite",
                    "websearch",
                ],
            ),
            (Agents, &["task"]),
            (Fetches, &["browser_open", "webfetch"]),
            (LATER, &["cron_create", "schedule_wakeup"]),
            (SENDS, &["notify_user", "send_file"]),
            (RUNS_CODE, &["notebook_execute"]),
            (STARTS_SESSIONS, &["agent_manager"]),
            (REMEMBERS, &["kilo_memory_save"]),
            (MAKES_FILES, &["generate_image", "repo_clone"]),
        ],
    ),
    (
        Agent::LettaCode,
        &[
            (
                Nothing,
                &[
                    "AskUserQuestion",
                    "ExitWorktree",
                    "KillBash",
                    "Skill",
                    "TaskCreate",
                    "TaskGet",
                    "TaskList",
                    "TaskStop",
                    "TaskUpdate",
                    "TodoWrite",
                    "UpdatePlan",
                    "read_artifact_file",
                    "web_search",
                    // It types into a program that runs already; see `types_into_programs`.
                    "write_stdin",
                ],
            ),
            (Agents, &["Agent", "SendAgentMessage", "Task"]),
            (Fetches, &["fetch_webpage"]),
            (RUNS_CODE, &["Workflow"]),
            (WORKTREE, &["EnterWorktree"]),
            (
                Asks("changes the directory in which the session continues"),
                &["SetWorkingDirectory"],
            ),
            (REMEMBERS, &["memory", "memory_apply_patch"]),
            (MAKES_FILES, &["write_artifact_file"]),
        ],
    ),
    (
        Agent::Auggie,
        &[
            (
                Nothing,
                &[
                    "add_tasks",
                    "ask-user",
                    "codebase-retrieval",
                    "codebase-retrieval-raw",
                    "conversation-retrieval",
                    "diagnostics",
                    "enter-plan-mode",
                    // Its input names the tool of the MCP server.
                    "execute-tool",
                    "exit-plan-mode",
                    "find-tool",
                    "finish-subagent-task",
                    "git-commit-retrieval",
                    "kill-process",
                    "list-processes",
                    "read-process",
                    "read-terminal",
                    "render-mermaid",
                    "reorganize_tasklist",
                    "report-to-parent",
                    "search-untruncated",
                    "update_tasks",
                    "view-range-untruncated",
                    "view-session",
                    "view_tasklist",
                    "web-search",
                    // It types into a program that runs already; see `types_into_programs`.
                    "write-process",
                ],
            ),
            (
                Agents,
                &["async-subagent-webview*", "sub-agent*", "subagent-webview*"],
            ),
            (Fetches, &["open-browser", "web-fetch"]),
            (RUNS_CODE, &["setup-script"]),
            (
                ACCOUNT,
                &[
                    "confluence",
                    "github-api",
                    "glean",
                    "jira",
                    "linear",
                    "notion",
                    "sentry",
                    "stripe",
                    "supabase",
                ],
            ),
        ],
    ),
    (
        Agent::MistralVibe,
        &[
            (
                Nothing,
                &[
                    "process.list",
                    "process.output",
                    "process.stop",
                    // The hook gets the tools that the script calls.
                    "run_typescript",
                    "search_tool_functions",
                    "self.sleep",
                    "self.wait",
                    "skill",
                    "skill.read",
                    "todo",
                    "ui.ask_user_question",
                    // A folder of the session.
                    "unified_harness_scratchpad",
                    "vibe.todo",
                    "vibe.unified_harness_scratchpad",
                    "wait",
                ],
            ),
            (
                Agents,
                &[
                    "agents.interrupt",
                    "agents.list",
                    "agents.list_configs",
                    "agents.send_message",
                    "agents.spawn",
                ],
            ),
            (TYPES, &["process.write"]),
            (LATER, &["cron", "vibe.cron"]),
            (SESSION, &["start_session", "vibe.start_session"]),
        ],
    ),
];

fn tools_of(agent: Agent) -> Option<OwnTools> {
    let found = TOOLS.iter().find(|(other, _)| *other == agent);
    found.map(|(_, tools)| *tools)
}

/// Returns `true` if the table lists all tools of an agent, so that another tool is unknown.
pub(crate) fn is_complete(agent: Agent) -> bool {
    tools_of(agent).is_some()
}

/// Returns what the guard does about a tool of an agent; `None` if the table does not list it.
pub(crate) fn own_tool(agent: Agent, name: &str) -> Option<OwnTool> {
    let name = plain(name);
    let is = |known: &&str| match known.strip_suffix('*') {
        Some(start) => name.starts_with(&plain(start)),
        None => plain(known) == name,
    };
    let has = |names: &[&str]| names.iter().any(is);
    let mut tools = tools_of(agent)?.iter();
    tools.find_map(|(tool, names)| has(names).then_some(*tool))
}

/// Rules that can decide about a tool of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnToolRules {
    /// No rule: the guard makes no decision about the tool, in any agent.
    None,
    /// Rules that ask or deny.
    Restrict,
    /// All rules.
    All,
}

/// Returns the rules that can decide about a tool with this name. A name that no table lists may be one of an
/// unknown tool or of a file tool.
pub(crate) fn rules_for(name: &str) -> OwnToolRules {
    let mut rules = OwnToolRules::None;
    let mut is_listed = false;
    for tool in Agent::ALL.iter().filter_map(|agent| own_tool(*agent, name)) {
        is_listed = true;
        match tool {
            Asks(_) => return OwnToolRules::All,
            Fetches | FetchesOrReads => rules = OwnToolRules::Restrict,
            Nothing | Agents => {}
        }
    }
    match is_listed {
        true => rules,
        false => OwnToolRules::All,
    }
}

/// Returns the effect of a tool with this name, without the addresses in its input: in this agent, or in the
/// first agent that decides about such a tool.
pub(crate) fn effect(name: &str, agent: Option<Agent>) -> Option<AgentToolEffect> {
    let of = |agent: Agent| match own_tool(agent, name)? {
        Asks(does) => Some(AgentToolEffect::Does(does.to_owned())),
        Fetches | FetchesOrReads => Some(AgentToolEffect::Fetches(Vec::new())),
        Nothing | Agents => None,
    };
    match agent {
        Some(agent) => of(agent),
        None => Agent::ALL.into_iter().find_map(of),
    }
}

/// Returns the tools of an agent about which the guard decides.
#[cfg(feature = "cli")]
pub(crate) fn decided(agent: Agent) -> impl Iterator<Item = &'static str> {
    let tools = tools_of(agent).into_iter().flatten();
    let decided = tools.filter(|(tool, _)| !matches!(tool, Nothing | Agents));
    decided.flat_map(|(_, names)| names.iter().copied())
}

/// Returns what a tool that starts or calls agents does, if these agents do not call the hook: the input
/// of Letta Code's `Agent` and `SendAgentMessage` can name another machine.
pub(crate) fn agents_elsewhere(arguments: &JsonObject) -> Option<&'static str> {
    let computer = arguments.get("computer")?;
    (!computer.is_null() && computer != "").then_some(ELSEWHERE)
}

/// Maximum number of addresses of one call.
const MAX_ADDRESSES: usize = 50;

/// Returns the addresses in the input of a tool, in any of its texts.
pub(crate) fn addresses(arguments: &JsonObject) -> Vec<String> {
    let mut found = Vec::new();
    for value in arguments.values() {
        add_addresses(value, &mut found);
    }
    found
}

fn add_addresses(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            for word in text.split(|c: char| c.is_whitespace() || matches!(c, '"' | '<' | '>')) {
                let word = word.trim_start_matches(['(', '[', '\'', '`']);
                let is_address = word.contains("://");
                if is_address && found.len() < MAX_ADDRESSES && !found.iter().any(|it| it == word) {
                    found.push(word.to_owned());
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| add_addresses(value, found)),
        Value::Object(object) => object
            .values()
            .for_each(|value| add_addresses(value, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    use super::super::tools::{plain, tool};
    use super::{Agent, OwnTool, TOOLS, addresses, own_tool};

    fn lists() -> BTreeMap<String, Value> {
        let text = include_str!("../../tests/protocol/client_tools.json");
        serde_json::from_str(text).expect("JSON")
    }

    fn names(list: &Value) -> Vec<&str> {
        let names = list["tools"].as_array().expect("a list").iter();
        names.map(|name| name.as_str().expect("a name")).collect()
    }

    #[test]
    fn the_table_is_complete_against_the_lists_of_the_clients() {
        let lists = lists();
        let agents: Vec<_> = TOOLS
            .iter()
            .map(|(agent, _)| agent.name().to_owned())
            .collect();
        let mut listed: Vec<_> = lists.keys().cloned().collect();
        listed.sort_by_key(|name| agents.iter().position(|agent| agent == name));
        assert_eq!(listed, agents);
        for (agent, list) in &lists {
            let agent: Agent = agent.parse().expect("an agent");
            let names = names(list);
            assert!(names.len() > 9, "{agent}");
            let unknown = |name: &&&str| tool(name).is_none() && own_tool(agent, name).is_none();
            let missing: Vec<_> = names.iter().filter(unknown).collect();
            assert!(missing.is_empty(), "{agent}: {missing:?}");
        }
    }

    #[test]
    fn a_tool_stands_once_in_the_table() {
        for (agent, tools) in TOOLS {
            let mut names: Vec<_> = tools
                .iter()
                .flat_map(|(_, names)| names.iter().map(|name| plain(name)))
                .collect();
            for name in &names {
                assert_eq!(
                    tool(name),
                    None,
                    "{agent} {name} runs a command or names files"
                );
            }
            let count = names.len();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), count, "{agent}");
        }
    }

    #[test]
    fn the_lists_are_those_of_the_tested_versions() {
        for (agent, list) in lists() {
            let agent: Agent = agent.parse().expect("an agent");
            let version = list["version"].as_str().expect("a version");
            let tested = agent.description().tested_versions;
            assert!(tested.contains(&version), "{agent} {version}");
        }
    }

    #[test]
    fn addresses_are_found_in_every_text() {
        let arguments = json!({
            "url": "https://a.example/x?y=1",
            "prompt": "read (http://b.example) and file:///etc/passwd, then https://a.example/x?y=1",
            "requests": [{"url": "https://c.example"}],
            "n": 1,
        });
        let found = addresses(arguments.as_object().expect("an object"));
        assert_eq!(
            found,
            [
                "https://a.example/x?y=1",
                "http://b.example)",
                "file:///etc/passwd,",
                "https://c.example",
            ]
        );
    }

    #[test]
    fn the_page_has_a_row_for_each_kind_of_tools_of_each_agent() {
        let page = include_str!("../../../docs/agents.md");
        let lists = lists();
        let mut rows = Vec::new();
        for (agent, tools) in TOOLS {
            let version = lists[agent.name()]["version"].as_str().expect("a version");
            for (tool, names) in *tools {
                let does = match tool {
                    OwnTool::Nothing => "no decision".to_owned(),
                    OwnTool::Agents => "no decision: the agents call the hook".to_owned(),
                    OwnTool::Fetches => "the addresses are judged as with `curl`".to_owned(),
                    OwnTool::FetchesOrReads => {
                        "the addresses are judged as with `curl`; no decision about a file"
                            .to_owned()
                    }
                    OwnTool::Asks(does) => format!("needs approval: {does}"),
                };
                let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
                let title = agent.title();
                rows.push(format!(
                    "| {title} {version} | {does} | {} |",
                    names.join(", ")
                ));
            }
        }
        if std::env::var_os("HOOKS_WRITE").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/agents.md");
            let (before, rest) = page.split_once(START).expect("the start of the table");
            let (_, after) = rest.split_once(END).expect("the end of the table");
            let table = format!("{HEAD}\n{}\n", rows.join("\n"));
            std::fs::write(path, format!("{before}{START}{table}{END}{after}")).expect("written");
            return;
        }
        let missing: Vec<_> = rows.iter().filter(|row| !page.contains(*row)).collect();
        assert!(
            missing.is_empty(),
            "run this test with HOOKS_WRITE=1: {missing:?}"
        );
    }

    const START: &str = "<!-- own tools -->\n\n";
    const END: &str = "\n<!-- end of own tools -->";
    const HEAD: &str = "| Agent | Decision | Tools |\n|---|---|---|";
}
