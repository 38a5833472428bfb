// Keys of all pages, and the list of the keys of a page.

import { dialog } from "./dialog.js";
import { el } from "./dom.js";
import { turnTimes } from "./time.js";

/** Returns true if a key is pressed once, without modifiers, and outside of the elements that match `fields`. */
export function isShortcut(event, fields = "input:not([type=checkbox]), select, textarea") {
  return !(event.repeat || event.ctrlKey || event.altKey || event.metaKey || event.target.closest?.(fields));
}

/**
 * Handles the keys of all pages, and lists them with those of the page. `page.keys` has the keys of
 * each action; `page.search` is the field that `/` selects.
 */
export function keys(page, button) {
  const everywhere = [
    [["t"], "shows exact or relative times; a tap on a time does so for that one"],
    [["?"], "shows this list"],
    [["Esc"], "closes this list"],
  ];
  const sections = [["This page", page.keys ?? []], ["All pages", everywhere]].filter(([, list]) => list.length > 0);
  const help = dialog("help", "Keys", el("div", { class: "key-lists" }, ...sections.map(([title, list]) => section(title, list))));
  button.addEventListener("click", help.open);

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
    if (!isShortcut(event, "input, select, textarea, [contenteditable]")) return;
    if (event.key === "?") help.open();
    else if (event.key === "t") turnTimes();
    else if (event.key === "/" && page.search && page.search.offsetParent !== null) page.search.focus();
    else return;
    event.preventDefault();
  });
}

function section(title, list) {
  return el(
    "section",
    {},
    el("h3", {}, title),
    el("dl", {}, ...list.flatMap(([names, action]) => [el("dt", {}, ...names.flatMap((name) => [el("kbd", {}, name), " "])), el("dd", {}, action)])),
  );
}
