// Formats times and numbers.

import { el } from "./dom.js";
import { flag, onFlags, setFlag } from "./store.js";

const DAY = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
const MINUTE = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long", hourCycle: "h23" });
/** Units of relative times, longest first, with their lengths in seconds. */
const UNITS = [[86_400, "day"], [3600, "h"], [60, "min"], [1, "s"]];
/** A week in seconds. */
const WEEK = 7 * 86_400;
const NUMBER = new Intl.NumberFormat();
const PERCENT = new Intl.NumberFormat(undefined, { style: "percent" });
const TENTHS = new Intl.NumberFormat(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
/** Flag of the setting that shows exact times instead of relative ones. */
export const EXACT = "exact times";
let allExact = flag(EXACT);

/** Formats a number with thousands separators. */
export function number(value) {
  return NUMBER.format(value);
}

/** Formats the distance of a time from now; as a date if it is more than a week. */
function relative(date) {
  const seconds = Math.round((Date.now() - date.getTime()) / 1000);
  const size = Math.abs(seconds);
  // The clocks of the browser and the service may differ.
  if (size < 5) return "just now";
  if (size >= WEEK) return `${DAY.format(date)}, ${MINUTE.format(date)}`;
  const [length, unit] = UNITS.find(([length]) => size >= length);
  const count = Math.floor(size / length);
  const text = `${count} ${unit}${unit === "day" && count > 1 ? "s" : ""}`;
  return seconds > 0 ? `${text} ago` : `in ${text}`;
}

/** Formats a time relative to now, such as "3 min ago"; the exact local time is its title. */
export function when(iso) {
  return time(iso, {});
}

/** Formats an exact local time, followed by the relative one. */
export function whenExactly(iso) {
  // The exact time is there: the other one stays relative.
  const distance = time(iso, { "data-always": true });
  return el("span", {}, el("time", { datetime: iso }, exact(new Date(iso))), el("span", { class: "quiet-text" }, " (", distance, ")"));
}

function time(iso, attributes) {
  const made = el("time", { datetime: iso, title: exact(new Date(iso)), "data-relative": true, ...attributes });
  made.textContent = shown(made);
  return made;
}

/** Returns the text of a relative time, which a tap or the setting makes exact. */
function shown(made) {
  const date = new Date(made.dateTime);
  const relates = made.dataset.always !== undefined || allExact === (made.dataset.turned !== undefined);
  return relates ? relative(date) : exact(date);
}

function exact(date) {
  return FULL.format(date);
}

function refresh() {
  for (const time of document.querySelectorAll("time[data-relative]")) {
    const text = shown(time);
    if (time.textContent !== text) time.textContent = text;
  }
}

/** Shows all times exactly or relatively. */
export function turnTimes() {
  setFlag(EXACT, !flag(EXACT));
}

/** Keeps the relative times of the page current; a tap on one shows the exact time. */
export function keepCurrent() {
  const adopt = () => {
    allExact = flag(EXACT);
    document.documentElement.toggleAttribute("data-exact-times", allExact);
    for (const time of document.querySelectorAll("time[data-turned]")) delete time.dataset.turned;
    refresh();
  };
  adopt();
  onFlags(adopt);
  setInterval(refresh, 1000);
  // Browsers slow down the timers of hidden pages.
  document.addEventListener("visibilitychange", refresh);
  // A finger cannot show a title.
  document.addEventListener("click", ({ target }) => {
    const time = target.closest?.("time[data-relative]:not([data-always])");
    if (!time || target.closest("a, button, summary")) return;
    time.toggleAttribute("data-turned");
    refresh();
  });
}

/** Formats seconds as minutes and seconds, with hours if needed. */
export function clock(seconds) {
  const whole = Math.max(0, Math.ceil(seconds));
  const rest = String(whole % 60).padStart(2, "0");
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

/** Formats a share from 0 to 1 as a percentage. */
export function percent(share) {
  return PERCENT.format(share);
}

/** Formats microseconds in a suitable unit. */
export function took(microseconds) {
  if (microseconds < 1000) return `${number(microseconds)}\u00a0µs`;
  if (microseconds < 1_000_000) return `${TENTHS.format(microseconds / 1000)}\u00a0ms`;
  return `${TENTHS.format(microseconds / 1_000_000)}\u00a0s`;
}
