// The hooks of the gate: registered hooks by slot, and the dispatches of the last requests.

import { get, messageOf } from "./api.js";
import { badge } from "./command.js";
import { el, prose, told, words } from "./dom.js";
import { escape } from "./escape.js";
import { number, took, when } from "./time.js";

export function hooks(main) {
  const slots = el("div", { class: "slots" });
  const last = el("tbody");
  const scripts = el("section", { "aria-labelledby": "scripts", class: "panel scripts", hidden: true });
  const problem = el("p", { class: "problem", role: "status" });
  main.append(
    el("h1", {}, "Hooks"),
    el("p", { class: "hint" }, "Registered hooks, in execution order."),
    problem,
    slots,
    scripts,
    el(
      "section",
      { "aria-labelledby": "dispatches" },
      el("h2", { id: "dispatches" }, "Last requests"),
      el("p", { class: "hint" }, "Steps of each dispatch; the width is the duration of a step. Select a dispatch to read its steps."),
      el("ul", { class: "legend" }, ...[["ran", "ran"], ["stopped", "decided"], ["failed", "failed"], ["skipped", "skipped"]].map(([run, text]) => el("li", { class: "run", "data-run": run }, text))),
      el(
        "table",
        { class: "stacked steady" },
        el("caption", { class: "unseen" }, "The last requests, newest first"),
        el("thead", {}, el("tr", {}, ...[["Time", "time"], ["Class", "class"], ["Steps", "wide"], ["Decided by", "by"], ["Duration", "number"]].map(([name, kind]) => el("th", { scope: "col", class: kind }, name)))),
        last,
      ),
    ),
  );

  async function read() {
    try {
      const found = await get("/api/hooks/registered");
      problem.textContent = "";
      slots.replaceChildren(...found.slots.map(slot));
      scripts.hidden = found.scripts.length === 0;
      scripts.replaceChildren(...scriptRuns(found.scripts));
      // Keep the dispatch that is being read.
      const open = new Set([...last.querySelectorAll("details[open]")].map((details) => details.dataset.dispatch));
      const focused = last.querySelector("summary:focus")?.parentElement.dataset.dispatch;
      last.replaceChildren(...found.dispatches.map(dispatch));
      for (const details of last.querySelectorAll("details")) {
        details.open = open.has(details.dataset.dispatch);
        if (details.dataset.dispatch === focused) details.querySelector("summary").focus();
      }
      if (found.dispatches.length === 0) last.append(el("tr", {}, el("td", { colspan: "5", class: "quiet-text nothing" }, el("strong", {}, "No requests since the service started"), prose("p", NO_REQUESTS))));
    } catch (error) {
      // The last known hooks stay.
      problem.textContent = messageOf(error);
    }
  }
  read();

  let due = null;
  return {
    anew: read,
    event(kind) {
      if (kind !== "asked") return;
      due ??= setTimeout(() => {
        due = null;
        read();
      }, 500);
    },
  };
}

const HEADS = ["#", "Hook", "Key", "Priority", "On failure", "Runs", "Decided", "Skipped", "Failed", "Average / last", "Last failure"];
const NUMBERS = new Set(["Priority", "Runs", "Decided", "Skipped", "Failed", "Average / last"]);

/** What to do without requests; backticks mark code. */
const NO_REQUESTS = "Let your agent run a command. If no agent is connected, run `hooks-guard install claude-code` (or another agent).";
/** How to register hooks in an empty slot; backticks mark code. */
const ADD = { restrict: "To deny or ask about more requests, add JavaScript hooks with `scripts` in the configuration." };

/** Average and last duration. */
function times({ runs, took_us, last_us }) {
  return runs ? `${took(Math.round(took_us / runs))} / ${took(last_us)}` : "–";
}

function fault({ last_fault, last_fault_at }) {
  return last_fault ? [escape(last_fault), " (", when(last_fault_at), ")"] : ["–"];
}

function slot({ slot: name, kind, policy, entries, runs }) {
  const panel = (...content) => el("section", { class: "panel", "aria-label": `Slot ${name}` }, el("h2", {}, el("code", {}, name)), ...content);
  if (entries.length === 0) return panel(el("p", { class: "hint" }, `${kind}; ${policy} · no hooks`), ADD[name] && prose("p", ADD[name], { class: "hint" }));
  return panel(
    el("p", { class: "hint" }, `${kind}; ${policy} · ${number(runs.runs)} runs, ${number(runs.failed)} ${runs.failed === 1 ? "failure" : "failures"}; average / last: ${times(runs)}`),
    runs.last_fault && el("p", { class: "problem" }, "Last failure: ", ...fault(runs)),
    scrolled(`Hooks in ${name}`, HEADS, entries.map(entry)),
  );
}

/** A table that may be wider than the page. */
function scrolled(name, heads, rows) {
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": name },
    el("table", {}, el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { scope: "col", class: NUMBERS.has(head) && "number" }, head)))), el("tbody", {}, ...rows)),
  );
}

function entry({ name, key, priority, on_failure: onFailure, runs }, at) {
  const counts = [runs.runs, runs.decided, runs.skipped, runs.failed].map((count) => el("td", { class: "number" }, number(count)));
  return el("tr", {}, el("td", {}, String(at + 1)), told("th", name, { scope: "row" }), told("td", key), el("td", { class: "number" }, String(priority)), el("td", {}, onFailure), ...counts, el("td", { class: "number" }, times(runs)), el("td", { class: runs.last_fault ? "problem" : null }, ...fault(runs)));
}

/** Runs of JavaScript hooks, by hook, outcome and class. */
function scriptRuns(all) {
  const heads = ["Hook", "Outcome", "Class", "Runs", "Average / last", "Last", "Last error"];
  const row = (group) =>
    el(
      "tr",
      {},
      told("th", group.hook, { scope: "row" }),
      el("td", {}, group.outcome),
      told("td", group.class),
      el("td", { class: "number" }, number(group.runs)),
      el("td", { class: "number" }, group.last_us === null ? "–" : times(group)),
      el("td", { class: "time" }, group.last_at ? when(group.last_at) : "–"),
      told("td", group.last_error),
    );
  return [
    el("h2", { id: "scripts" }, "JavaScript hooks"),
    el("p", { class: "hint" }, "Runs since the service started; details of the last run are kept for a thousand runs."),
    scrolled("Runs of JavaScript hooks", heads, all.map(row)),
  ];
}

/** Tone of a step, by its status. */
const RUNS = { decided: "stopped", ran: "ran", failed: "failed", skipped: "skipped" };

/** Deciding hook or failure of a step, and the status of each hook if there are several. */
function detail({ detail, hooks }) {
  const each = hooks.length > 1 ? hooks.map(({ name, run }) => `${escape(name)} ${words(run)}`) : [];
  const all = [...(detail ? [escape(detail)] : []), ...each];
  return all.length ? ` (${all.join("; ")})` : "";
}

function dispatch(one) {
  const all = one.steps.reduce((sum, step) => sum + step.took_us, 0);
  const by = one.steps.filter((step) => step.run === "decided").at(-1);
  const failed = one.steps.find((step) => step.run === "failed");
  const text = one.steps.map((step) => `${step.name} ${words(step.run)}${detail(step)}, ${took(step.took_us)}`).join("; ");
  const lane = el(
    "span",
    { class: "lane", role: "img", "aria-label": text },
    ...one.steps.map((step) => {
      const bar = el("span", { "data-run": RUNS[step.run], title: `${step.name}: ${words(step.run)}${detail(step)}, ${took(step.took_us)}` });
      bar.style.flexGrow = String(step.run === "skipped" ? 0 : step.took_us / Math.max(all, 1));
      return bar;
    }),
  );
  const steps = one.steps.map((step) => el("li", {}, el("code", {}, step.name), ` ${words(step.run)}${detail(step)}, ${took(step.took_us)}`));
  return el(
    "tr",
    {},
    el("td", { class: "time" }, when(one.at)),
    el("td", {}, badge(one.classification)),
    el("td", { class: "wide" }, el("details", { class: "steps", "data-dispatch": `${one.id ?? ""} ${one.at}` }, el("summary", {}, lane), el("ol", {}, ...steps))),
    el("td", { class: failed ? "by problem" : "by" }, failed ? `${failed.name} failed: ${escape(failed.detail ?? "")}` : `${by?.name ?? "–"}${by?.detail ? `: ${escape(by.detail)}` : ""}${one.denied ? ", denied" : ""}`),
    el("td", { class: "number" }, one.id ? el("a", { href: `/trail?id=${one.id}` }, took(all)) : took(all)),
  );
}
