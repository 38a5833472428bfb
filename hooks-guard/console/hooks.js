// The hooks of the gate: what is registered where, and how the last requests went through.

import { get } from "./api.js";
import { badge } from "./command.js";
import { el, told, words } from "./dom.js";
import { escape } from "./escape.js";
import { number, took, when } from "./time.js";

export function hooks(main) {
  const slots = el("div", { class: "slots" });
  const last = el("tbody");
  main.append(
    el("h1", {}, "Hooks"),
    el("p", { class: "hint" }, "Which hooks judge requests, in the order in which they run."),
    slots,
    el(
      "section",
      { "aria-labelledby": "dispatches" },
      el("h2", { id: "dispatches" }, "Last requests"),
      el("p", { class: "hint" }, "How each went through the gate; the width is the time that a step took."),
      el("ul", { class: "legend" }, ...[["ran", "ran"], ["stopped", "decided"], ["failed", "failed"], ["skipped", "skipped"]].map(([run, text]) => el("li", { class: "run", "data-run": run }, text))),
      el(
        "table",
        { class: "stacked" },
        el("caption", { class: "unseen" }, "The last requests, newest first"),
        el("thead", {}, el("tr", {}, ...["Time", "Class", "Steps", "Decided by", "Took"].map((name) => el("th", { scope: "col" }, name)))),
        last,
      ),
    ),
  );

  async function read() {
    try {
      const found = await get("/api/hooks/registered");
      slots.replaceChildren(...found.slots.map((one) => slot(found, one)));
      last.replaceChildren(...found.dispatches.map(dispatch));
      if (found.dispatches.length === 0) last.append(el("tr", {}, el("td", { colspan: "5", class: "quiet-text" }, "Nothing was asked since the service began.")));
    } catch (error) {
      slots.replaceChildren(el("p", { class: "problem" }, error.status ? error.message : "The service does not answer."));
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

function slot(found, { slot: name, kind, policy, entries }) {
  const { runs } = found;
  const mean = runs.runs ? took(Math.round(runs.took_us / runs.runs)) : "–";
  return el(
    "section",
    { class: "panel", "aria-label": `Slot ${name}` },
    el("h2", {}, el("code", {}, name), el("span", { class: "quiet-text" }, ` of ${found.set}`)),
    el("p", { class: "hint" }, `${kind}; ${policy.join(", ") || "no companions"} · asked ${number(runs.runs)} times, ${mean} on average, ${number(runs.failed)} ${runs.failed === 1 ? "fault" : "faults"}`),
    runs.last_fault && el("p", { class: "problem" }, `Last fault: ${escape(runs.last_fault)} (`, when(runs.last_fault_at), ")"),
    el(
      "div",
      { class: "scroll" },
      el(
        "table",
        {},
        el("thead", {}, el("tr", {}, ...["#", "Hook", "Key", "Priority"].map((head) => el("th", { scope: "col" }, head)))),
        el(
          "tbody",
          {},
          ...(entries.length
            ? entries.map((entry, at) => el("tr", {}, el("td", {}, String(at + 1)), told("th", entry.name, { scope: "row" }), told("td", entry.key), el("td", {}, String(entry.priority))))
            : [el("tr", {}, el("td", { colspan: "4" }, "No hook: what is asked is answered with 503."))]),
        ),
      ),
    ),
  );
}

/** The tone of a step, by what became of it. */
const RUNS = { decided: "stopped", ran: "ran", failed: "failed", skipped: "skipped" };

function dispatch(one) {
  const all = one.steps.reduce((sum, step) => sum + step.took_us, 0);
  const by = one.steps.filter((step) => step.run === "decided").at(-1);
  const failed = one.steps.find((step) => step.run === "failed");
  const text = one.steps.map((step) => `${step.name} ${words(step.run)}${step.detail ? ` (${escape(step.detail)})` : ""}, ${took(step.took_us)}`).join("; ");
  const lane = el(
    "div",
    { class: "lane", role: "img", "aria-label": text },
    ...one.steps.map((step) => {
      const bar = el("span", { "data-run": RUNS[step.run], title: `${step.name}: ${step.run}${step.detail ? ` (${escape(step.detail)})` : ""}, ${took(step.took_us)}` });
      bar.style.flexGrow = String(step.run === "skipped" ? 0 : step.took_us / Math.max(all, 1));
      return bar;
    }),
  );
  return el(
    "tr",
    {},
    el("td", { class: "time" }, when(one.at)),
    el("td", {}, badge(one.classification)),
    el("td", { class: "wide" }, lane),
    el("td", { class: failed ? "by problem" : "by" }, failed ? `${failed.name} failed: ${escape(failed.detail ?? "")}` : `${by?.name ?? "–"}${by?.detail ? `: ${escape(by.detail)}` : ""}${one.denied ? ", forbidden" : ""}`),
    el("td", { class: "number" }, one.id ? el("a", { href: `/trail?id=${one.id}` }, took(all)) : took(all)),
  );
}
