// Formats times and numbers.

import { el } from "./dom.js";

const DAY = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
const MINUTE = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hour12: false });
const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long", hour12: false });
/** Units of relative times, longest first, with their lengths in seconds. */
const UNITS = [[86_400, "day"], [3600, "h"], [60, "min"], [1, "s"]];
/** A week in seconds. */
const WEEK = 7 * 86_400;
const NUMBER = new Intl.NumberFormat();

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
  const date = new Date(iso);
  return el("time", { datetime: iso, title: exact(date), "data-relative": true }, relative(date));
}

/** Formats an exact local time, followed by the relative one. */
export function whenExactly(iso) {
  return el("span", {}, el("time", { datetime: iso }, exact(new Date(iso))), el("span", { class: "quiet-text" }, " (", when(iso), ")"));
}

function exact(date) {
  return FULL.format(date);
}

function refresh() {
  for (const time of document.querySelectorAll("time[data-relative]")) {
    const text = relative(new Date(time.dateTime));
    if (time.textContent !== text) time.textContent = text;
  }
}

/** Keeps the relative times of the page current. */
export function keepCurrent() {
  setInterval(refresh, 1000);
  // Browsers slow down the timers of hidden pages.
  document.addEventListener("visibilitychange", refresh);
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
  return `${Math.round(share * 100)}\u00a0%`;
}

/** Formats microseconds in a suitable unit. */
export function took(microseconds) {
  if (microseconds < 1000) return `${microseconds} µs`;
  if (microseconds < 1_000_000) return `${(microseconds / 1000).toFixed(1)} ms`;
  return `${(microseconds / 1_000_000).toFixed(1)} s`;
}
