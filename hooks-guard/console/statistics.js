// Statistics: the decisions of a period, as plots with tables.

import { get, messageOf } from "./api.js";
import { CLASSES } from "./command.js";
import { el, prose } from "./dom.js";
import { escape } from "./escape.js";
import { bars, legend, lines, short, stacked, table } from "./plot.js";
import { UNUSED } from "./record.js";
import { number, percent } from "./time.js";

const HOUR = 3600_000;
const PERIODS = [
  ["day", "24 hours", 24 * HOUR],
  ["week", "7 days", 7 * 24 * HOUR],
  ["month", "30 days", 30 * 24 * HOUR],
  ["all", "Everything", null],
];

export function statistics(main) {
  const chosen = new URLSearchParams(location.search).get("period") ?? "week";
  const [name, , length] = PERIODS.find(([key]) => key === chosen) ?? PERIODS[1];
  const content = el("div", { "aria-busy": "true" });
  const problem = el("p", { class: "problem", role: "status" });
  main.append(
    el("h1", {}, "Statistics"),
    el(
      "nav",
      { class: "line", "aria-label": "Period" },
      el("div", { class: "segments" }, ...PERIODS.map(([key, text]) => el("a", { href: `/statistics?period=${key}`, "aria-current": key === name && "true" }, text))),
    ),
    problem,
    content,
  );

  async function read() {
    const query = length ? { since: new Date(Date.now() - length).toISOString() } : {};
    try {
      const [stats, series] = await Promise.all([get("/api/hooks/stats", query), get("/api/hooks/series", query)]);
      problem.textContent = "";
      // Keep open tables open, so that the page does not jump.
      const open = [...content.querySelectorAll("details")].map((details) => details.open);
      content.replaceChildren(...(stats.total_decisions ? [tiles(stats), plots(stats, series, content.clientWidth)] : [nothing(name)]));
      content.querySelectorAll("details").forEach((details, at) => (details.open = open[at] ?? false));
    } catch (error) {
      // The last known counts stay.
      problem.textContent = messageOf(error);
    }
    content.removeAttribute("aria-busy");
  }
  read();
  let width = innerWidth;
  addEventListener("resize", () => {
    if (width !== innerWidth) read();
    width = innerWidth;
  });

  let due = null;
  return {
    anew: read,
    // Every decision changes the counts; refresh only every few seconds.
    event() {
      due ??= setTimeout(() => {
        due = null;
        read();
      }, 5000);
    },
  };
}

/** Explains a period without decisions. */
function nothing(period) {
  const all = period === "all";
  return el(
    "div",
    { class: "empty" },
    el("p", { class: "large" }, all ? "No decisions yet" : "No decisions in this period"),
    all ? prose("p", UNUSED) : el("p", {}, "Choose a longer period, or ", el("a", { href: "/statistics?period=all" }, "show everything"), "."),
  );
}

function tile(name, value, hint) {
  return el("div", { class: "tile" }, el("span", { class: "value" }, value), el("span", { class: "name" }, name), hint && el("span", { class: "hint" }, hint));
}

function tiles(stats) {
  const answered = stats.user_responses.approved + stats.user_responses.denied;
  return el(
    "section",
    { class: "tiles", "aria-label": "Summary" },
    tile("decisions", number(stats.total_decisions)),
    tile("reads", stats.total_decisions ? percent(stats.classifications.read / stats.total_decisions) : "–"),
    tile("approved", answered ? percent(stats.user_responses.approved / answered) : "–", answered ? `of ${number(answered)} answered ${answered === 1 ? "question" : "questions"}` : "no answered questions"),
    tile("p95 latency", `${number(stats.performance.p95_response_time_ms)}\u00a0ms`, `${percent(0.95)} of decisions are at least this fast`),
    tile("mean confidence", stats.total_decisions ? percent(stats.confidence.avg_confidence) : "–"),
  );
}

/** Explains a plot without values. */
function none(...content) {
  return el("p", { class: "none" }, ...content);
}

function panel(title, hint, ...children) {
  return el("section", { class: "panel", "aria-label": title }, el("h2", {}, title), hint && el("p", { class: "hint" }, hint), ...children);
}

function plots(stats, series, room) {
  // As in the style sheet: two panels beside each other on a wide window.
  const broad = room - 42;
  const half = room >= 870 ? (room - 16) / 2 - 42 : broad;
  const { points } = series;
  const hourly = series.step_seconds === 3600;
  const format = new Intl.DateTimeFormat(undefined, hourly ? { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } : { month: "short", day: "numeric", timeZone: "UTC" });
  const full = new Intl.DateTimeFormat(undefined, hourly ? { dateStyle: "medium", timeStyle: "short", hourCycle: "h23" } : { dateStyle: "medium", timeZone: "UTC" });
  const labels = points.map((point) => format.format(new Date(point.start)));
  const rows = points.map((point) => full.format(new Date(point.start)));
  const each = { 3600: "per hour", 86400: "per day", 604800: "per week" }[series.step_seconds];
  const column = (name, tone, value) => ({ name, tone, values: points.map(value) });

  const total = (point) => Object.values(point.classifications).reduce((sum, count) => sum + count, 0);
  const classes = CLASSES.map((name) => column(name, name, (point) => point.classifications[name.toLowerCase()]));
  const answers = [
    column("approved", "good", (point) => point.approved),
    column("denied", "DELETE", (point) => point.denied),
    column("timed out", "UPDATE", (point) => point.expired),
  ];
  const latency = [
    // Without decisions there is no latency.
    column("p50", "good", (point) => (total(point) ? point.p50_response_time_ms : null)),
    column("p95", "accent", (point) => (total(point) ? point.p95_response_time_ms : null)),
    column("p99", "UPDATE", (point) => (total(point) ? point.p99_response_time_ms : null)),
  ];
  const sure = [column("mean confidence", "accent", (point) => (total(point) ? point.avg_confidence : null))];
  const { high_confidence_count: high, low_confidence_count: low } = stats.confidence;
  const middle = stats.total_decisions - high - low;
  const numbers = (all) => rows.map((row, at) => [row, ...all.map((one) => (one.values[at] === null ? "–" : number(one.values[at])))]);
  const counts = (all) => all.map(({ name, count }) => ({ name: escape(name), value: count }));
  const counted = (all) => all.map(({ name, value }) => [name, number(value)]);
  const programs = counts(series.programs);
  const agents = counts(series.agents);
  const confidence = [
    { name: `${percent(0.9)} and more`, value: high, tone: "good" },
    { name: `${percent(0.8)} to ${percent(0.9)}`, value: middle, tone: "accent" },
    { name: `less than ${percent(0.8)}`, value: low, tone: "UPDATE" },
  ];

  const drawAnswers = () => {
    if (answers.every((one) => one.values.every((value) => value === 0))) return [none("No answers in this period; approve or deny a question in the ", el("a", { href: "/" }, "inbox"), ".")];
    return [stacked(half, "Answers over time", labels, answers), legend(answers), table(["Start", ...answers.map((one) => one.name)], numbers(answers))];
  };

  const classesPanel = panel("Decisions by class", `Requests, ${each}`, stacked(broad, "Decisions by class over time", labels, classes), legend(classes), table(["Start", ...CLASSES], numbers(classes)));
  classesPanel.classList.add("broad");
  return el(
    "div",
    { class: "plots" },
    classesPanel,
    panel("Answers", `Answers to questions, ${each}`, ...drawAnswers()),
    panel("Latency", `Percentiles, ms: p95 is the time within which ${percent(0.95)} of decisions are made`, lines(half, "Latency percentiles over time", labels, latency, short), legend(latency), table(["Start", ...latency.map((one) => one.name)], numbers(latency))),
    panel("Confidence over time", "Mean of all decisions", lines(half, "Mean confidence over time", labels, sure, percent, 1), table(["Start", "Mean"], rows.map((row, at) => [row, sure[0].values[at] === null ? "–" : percent(sure[0].values[at])]))),
    panel("Confidence distribution", "Decisions by confidence", bars(half, "Decisions by confidence", confidence), table(["Confidence", "Decisions"], counted(confidence))),
    panel("Programs", `By the first word of the last ${number(series.programs_of)} commands`, ...(programs.length ? [bars(half, "Top programs", programs), table(["Program", "Commands"], counted(programs))] : [none("No commands in this period; choose a longer one.")])),
    panel("Agents", "Requests by agent", ...(agents.length ? [bars(half, "Decisions by agent", agents), table(["Agent", "Decisions"], counted(agents))] : [none("No request has named its agent; an agent that is connected by ", el("code", {}, "hooks-guard install"), " does.")])),
  );
}
