// Formats times and numbers.

import { el } from "./dom.js";

const DAY = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium", hour12: false });
const NUMBER = new Intl.NumberFormat();

/** Formats a number with thousands separators. */
export function number(value) {
  return NUMBER.format(value);
}

/** Formats a local time; with the day unless it is today. */
export function when(iso) {
  const date = new Date(iso);
  const today = date.toDateString() === new Date().toDateString();
  const text = today ? CLOCK.format(date) : `${DAY.format(date)}, ${CLOCK.format(date)}`;
  return el("time", { datetime: iso, title: FULL.format(date) }, text);
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
