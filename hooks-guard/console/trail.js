// The trail: decisions, newest first, with filters stored in the address.

import { rowAnswers } from "./answers.js";
import { get, messageOf } from "./api.js";
import { badge, CLASSES, command } from "./command.js";
import { dialog } from "./dialog.js";
import { dispatch, el, prose, say, told } from "./dom.js";
import { details, outcome, UNUSED } from "./record.js";
import { searchInput } from "./search.js";
import { number, when } from "./time.js";

const ROWS = 50;
/** The filters, by their names in the address and in the API. */
const FILTERS = ["classification", "response", "command_filter", "agent", "session_id", "since", "until"];
/** Outcomes as the table prints them, with their filters in the API. */
const OUTCOMES = new Map([
  ["allowed", { decision: "AUTO_ALLOWED" }],
  ["approved", { response: "APPROVED" }],
  ["denied", { response: "DENIED" }],
  ["timed out", { response: "TIMEOUT" }],
]);
/** Delay between the last letter of a search and its request, in milliseconds. */
const PAUSE = 250;

/** Returns a filter of the address as its field shows it: values are accepted as the API and the table print them. */
function accepted(name, value) {
  if (name === "classification") return CLASSES.find((one) => one === value.toUpperCase()) ?? value;
  if (name !== "response") return value;
  const same = ([text, { response }]) => text === value.toLowerCase() || response === value.toUpperCase();
  return [...OUTCOMES].find(same)?.[0] ?? value;
}

export function trail(main) {
  const address = new URLSearchParams(location.search);
  const filters = Object.fromEntries(FILTERS.map((name) => [name, accepted(name, address.get(name) ?? "")]));
  // Start of the page.
  let before = address.get("before") ?? "";
  const body = el("tbody");
  const status = el("p", { class: "quiet-text", id: "found" });
  const fresh = el("button", { type: "button", hidden: true, click: () => location.assign(to({ before: "" })) }, "Show new decisions");
  const decisionTitle = el("span");
  const decision = el("div");
  const decisionDialog = dialog("record", decisionTitle, decision);
  const pages = el("nav", { class: "line", "aria-label": "Pages of the trail" });
  const search = searchInput(
    { id: "command_filter", name: "command_filter", value: filters.command_filter, "aria-controls": "decisions" },
    () => find(PAUSE),
    () => find(0),
  );
  const exports = [download("csv", "CSV"), download("jsonl", "JSON lines")];
  let records = [];
  let unseen = 0;
  /** Cancels the current request. */
  let reading = null;
  let failed = false;

  main.append(
    el("h1", {}, "Trail"),
    form(),
    el("div", { class: "line" }, status, fresh, el("span", { class: "end" }, ...exports)),
    el(
      "table",
      { id: "decisions", class: "stacked steady", "aria-describedby": "found" },
      el("caption", { class: "unseen" }, "Decisions, newest first"),
      el("thead", {}, el("tr", {}, ...[["Time", "time"], ["Class", "class"], ["Command", "wide"], ["Agent", "agent"], ["Outcome", "outcome-cell"]].map(([name, kind]) => el("th", { scope: "col", class: kind }, name)))),
      body,
    ),
    pages,
  );

  /** Returns the address of this page with changed parameters. */
  function to(change) {
    const query = new URLSearchParams(location.search);
    query.delete("id");
    for (const [name, value] of Object.entries(change)) {
      if (value) query.set(name, value);
      else query.delete(name);
    }
    const text = query.toString();
    return text ? `/trail?${text}` : "/trail";
  }

  function mirror(name, value) {
    const query = new URLSearchParams(location.search);
    if (value) query.set(name, value);
    else query.delete(name);
    const text = query.toString();
    history.replaceState(null, "", text ? `/trail?${text}` : "/trail");
  }

  function field(name, label, control, wide) {
    return el("div", { class: wide ? "field search" : "field" }, el("label", { for: name }, label), control);
  }

  function choice(name, values) {
    return el(
      "select",
      { id: name, name },
      el("option", { value: "" }, "any"),
      ...values.map((value) => el("option", { value, selected: filters[name] === value }, value)),
    );
  }

  function text(name, type = "text", attributes = {}) {
    return el("input", { id: name, name, type, value: type === "datetime-local" ? local(filters[name]) : filters[name], autocomplete: "off", spellcheck: "false", ...attributes });
  }

  function form() {
    return el(
      "form",
      {
        class: "filters",
        role: "search",
        "aria-label": "Filters",
        submit(event) {
          event.preventDefault();
          apply(event.target);
        },
        change(event) {
          if (event.target.matches("select")) apply(event.currentTarget);
        },
      },
      field("command_filter", "Command contains", search, true),
      el(
        "details",
        // On a phone, show the results first.
        { class: "more-filters", open: innerWidth > 736 || FILTERS.some((name) => name !== "command_filter" && filters[name]) },
        el("summary", {}, "More filters"),
        el("div", { class: "fields" }, ...moreFields()),
      ),
      el("div", { class: "buttons" }, el("button", { type: "submit", class: "primary" }, "Filter"), el("a", { class: "button", href: "/trail" }, "Clear")),
    );
  }

  // On a wide window the filters are always open, and the summary is hidden.
  matchMedia("(min-width: 46.01rem)").addEventListener("change", (now) => {
    if (now.matches) main.querySelector(".more-filters").open = true;
  });

  function moreFields() {
    return [
      field("classification", "Class", choice("classification", CLASSES)),
      field("response", "Outcome", choice("response", [...OUTCOMES.keys()])),
      field("agent", "Agent", text("agent")),
      field("session_id", "Session", text("session_id")),
      field("since", "After", text("since", "datetime-local")),
      field("until", "Before", text("until", "datetime-local")),
    ];
  }

  function apply(form) {
    const values = Object.fromEntries(new FormData(form));
    for (const name of ["since", "until"]) values[name] = values[name] ? new Date(values[name]).toISOString() : "";
    location.assign(to({ ...values, before: "" }));
  }

  /** Returns the filters as parameters of the API. */
  function parameters() {
    const { response, ...others } = filters;
    return { ...others, ...(OUTCOMES.get(response) ?? { response }) };
  }

  function exported(format) {
    const query = new URLSearchParams({ format });
    for (const [key, value] of Object.entries(parameters())) if (value) query.set(key, value);
    return `/api/hooks/export?${query}`;
  }

  function download(format, name) {
    return el("a", { class: "button", href: exported(format), download: `decisions.${format}` }, `Export ${name}`);
  }

  let due = null;

  /** Searches for the text of the field after a delay, unless another letter comes before. */
  function find(delay) {
    clearTimeout(due);
    due = setTimeout(() => {
      if (search.value === filters.command_filter) return;
      filters.command_filter = search.value;
      before = "";
      unseen = 0;
      fresh.hidden = true;
      history.replaceState(null, "", to({ command_filter: search.value, before: "" }));
      for (const link of exports) link.href = exported(link.download.split(".").at(-1));
      load();
    }, delay);
  }

  /** Reads the page; a later call cancels an earlier one. */
  async function load() {
    reading?.abort();
    const mine = (reading = new AbortController());
    main.querySelector("#decisions").setAttribute("aria-busy", "true");
    try {
      await read(mine.signal);
      failed = false;
    } catch (error) {
      if (mine !== reading) return;
      failed = true;
      status.textContent = messageOf(error);
      if (records.length === 0) body.replaceChildren(el("tr", {}, el("td", { colspan: "5", class: "quiet-text nothing" }, el("button", { type: "button", click: load }, "Try again"))));
    }
    if (mine === reading) main.querySelector("#decisions").removeAttribute("aria-busy");
  }

  /**
   * Reads the page after `before`, which is `TIME~ID`: pages are addressed by time instead of by an
   * offset, so that the last page of a million is as fast as the first. Records of one microsecond
   * are ordered by id.
   */
  async function read(signal) {
    // One extra record shows whether there is a next page; the last record of the previous page is repeated.
    const query = { ...parameters(), limit: before ? ROWS + 2 : ROWS + 1 };
    const [time, id] = before.split("~");
    if (time) query.until = after(time);
    let found = await get("/api/hooks/decisions", query, signal);
    if (time) {
      const behind = (record) => compare(record.timestamp, time) < 0 || (compare(record.timestamp, time) === 0 && record.id < Number(id));
      // Records with the time of the last one come first; there may be more than a page of them.
      while (found.decisions.length > query.limit - 1 && found.decisions.filter(behind).length <= ROWS && query.limit < 1000) {
        query.limit = Math.min(1000, query.limit * 4);
        found = await get("/api/hooks/decisions", query, signal);
      }
      const seen = found.decisions.filter((record) => !behind(record)).length;
      found.pagination.total -= seen;
      found.decisions = found.decisions.filter(behind);
    }
    signal.throwIfAborted();
    records = found.decisions.slice(0, ROWS);
    draw();
    paging(found.decisions.length > ROWS);
    const all = found.pagination.total;
    status.textContent = records.length === 0 ? empty() : `${number(all)} ${all === 1 ? "decision" : "decisions"}${before ? " on this and older pages" : isFiltered() ? " found" : ""}`;
    say(status.textContent);
  }

  function isFiltered() {
    return Object.values(filters).some(Boolean);
  }

  function paging(more) {
    const last = records.at(-1);
    pages.replaceChildren(
      ...(before ? [el("a", { class: "button", href: to({ before: "" }) }, "Newest")] : []),
      ...(before && history.state?.paged ? [el("button", { type: "button", click: () => history.back() }, "Newer")] : []),
      ...(more ? [el("a", { class: "button", rel: "next", href: to({ before: `${last.timestamp}~${last.id}` }), click: older }, "Older")] : []),
    );
  }

  function older(event) {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    sessionStorage.setItem("hooks-guard paged", "1");
    location.assign(event.currentTarget.href);
  }

  function draw() {
    body.replaceChildren(...records.map(row));
    if (records.length === 0) body.append(el("tr", {}, nothing()));
  }

  /** Explains an empty list. */
  function nothing() {
    const cell = (...content) => el("td", { colspan: "5", class: "quiet-text nothing" }, el("strong", {}, empty()), ...content);
    if (before) return cell(el("p", {}, el("a", { href: to({ before: "" }) }, "Show the newest decisions")));
    if (!isFiltered()) return cell(prose("p", UNUSED));
    return cell(el("p", {}, "Change the filters, or ", el("a", { href: "/trail" }, "clear filters"), "."));
  }

  function empty() {
    if (before) return "No older decisions";
    return isFiltered() ? "No matching decisions" : "No decisions yet";
  }

  /** Returns true if a new decision may be in this list. */
  function concerns(record) {
    const { classification, response, command_filter: text, agent, session_id: session, until } = filters;
    const contains = (whole, part) => whole.toUpperCase().toLowerCase().includes(part.toUpperCase().toLowerCase());
    return (
      (!classification || classification === record.classification) &&
      (!response || (response === "allowed") !== record.decision_requires_confirmation) &&
      (!text || contains(record.command, text)) &&
      (!agent || agent === record.agent) &&
      (!session || session === record.session_id) &&
      (!until || Date.parse(until) > Date.parse(record.timestamp))
    );
  }

  function row(record) {
    return el(
      "tr",
      { "data-id": String(record.id) },
      el("td", { class: "time" }, when(record.timestamp)),
      el("td", {}, badge(record.classification)),
      el("td", { class: "wide" }, el("button", { type: "button", class: "row-button", "aria-haspopup": "dialog", click: () => show(record) }, command(record, { oneLine: true }))),
      told("td", record.agent, { class: "agent" }),
      el("td", { class: "outcome-cell" }, outcome(record), rowAnswers(record, () => show(record))),
    );
  }

  function show(record) {
    decisionTitle.textContent = `Decision ${record.id}`;
    decision.replaceChildren(details(record));
    decisionDialog.open();
    mirror("id", String(record.id));
  }

  decisionDialog.element.addEventListener("close", () => mirror("id", ""));

  if (sessionStorage.getItem("hooks-guard paged")) {
    sessionStorage.removeItem("hooks-guard paged");
    history.replaceState({ paged: true }, "");
  }
  load();
  const wanted = address.get("id");
  if (wanted) get(`/api/hooks/decisions/${encodeURIComponent(wanted)}`).then(show, () => {});

  return {
    session: () => records.length > 0 && draw(),
    keys: [
      [["/"], "searches the commands, as you type"],
      [["Esc"], "clears the search"],
      [["Enter"], "shows the selected decision"],
    ],
    search,
    anew(first) {
      // The page is read when it is opened.
      if (!first || failed) load();
    },
    event(kind, data) {
      if (kind === "asked" && !before && concerns(data)) {
        unseen += 1;
        fresh.hidden = false;
        fresh.textContent = unseen === 1 ? "1 new decision" : `${number(unseen)} new decisions`;
      }
      const at = records.findIndex((record) => record.id === data.id);
      if ((kind === "answered" || kind === "executed") && at >= 0) {
        records[at] = data;
        body.children[at].replaceWith(row(data));
      }
      if (kind === "answered") dispatch(data.id, "answered", data);
    },
  };
}

/** Compares times of the service. In an old address, a time may have fewer than nine decimal places. */
function compare(one, other) {
  const parts = (iso) => [Date.parse(`${iso.slice(0, 19)}Z`), (iso.slice(20).replace("Z", "") || "0").padEnd(9, "0")];
  const [[seconds, rest], [otherSeconds, otherRest]] = [parts(one), parts(other)];
  return seconds - otherSeconds || rest.localeCompare(otherRest);
}

/** Returns the next microsecond, so that "before" includes this one. */
function after(iso) {
  const micros = Number((iso.slice(20).replace("Z", "") || "0").padEnd(6, "0").slice(0, 6)) + 1;
  const seconds = Date.parse(`${iso.slice(0, 19)}Z`) + (micros === 1_000_000 ? 1000 : 0);
  return `${new Date(seconds).toISOString().slice(0, 19)}.${String(micros % 1_000_000).padStart(6, "0")}Z`;
}

/** Returns a time in the format of its input field. */
function local(iso) {
  if (!iso || Number.isNaN(Date.parse(iso))) return "";
  const date = new Date(iso);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}
