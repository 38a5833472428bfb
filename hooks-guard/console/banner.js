// The banner: conditions that concern every page, over its whole width.

import { el } from "./dom.js";

const banner = document.getElementById("banner");
/** Notices by name. */
const notices = new Map();

/** Shows a notice with actions, and removes the previous one of this name. */
export function notice(name, tone, content, ...actions) {
  const made = el("div", { class: "notice", "data-notice": name, "data-tone": tone }, content, el("span", { class: "notice-actions" }, ...actions));
  notices.get(name)?.remove();
  notices.set(name, made);
  banner.append(made);
  banner.hidden = false;
}

/** Removes a notice. */
export function clear(name) {
  notices.get(name)?.remove();
  notices.delete(name);
  banner.hidden = notices.size === 0;
}

// What scrolls into view must not be behind the top of the page, whose height changes with the notices.
new ResizeObserver(([{ target }]) => document.documentElement.style.setProperty("--top", `${target.offsetHeight}px`)).observe(banner.parentElement);
