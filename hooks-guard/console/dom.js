// Elements. All displayed text goes through here, as text and never as markup.

import { escape, shown } from "./escape.js";

const SVG = "http://www.w3.org/2000/svg";

function build(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== undefined && child !== null && child !== false));
  return element;
}

/** Creates an element; function attributes become listeners of the event with their name. */
export function el(name, attributes = {}, ...children) {
  return build(document.createElement(name), attributes, children);
}

/** Creates an SVG element. */
export function svg(name, attributes = {}, ...children) {
  return build(document.createElementNS(SVG, name), attributes, children);
}

/** Creates an element with escaped text, or with `fallback` if there is none. */
export function told(name, text, attributes = {}, fallback = "–") {
  return el(name, attributes, text === undefined || text === null || text === "" ? fallback : escape(text));
}

/** Creates an element with escaped text in which backticks mark code. */
export function prose(name, text, attributes = {}) {
  const parts = escape(text).split("`");
  // An unpaired backtick is text.
  if (parts.length % 2 === 0) {
    const last = parts.pop();
    parts.push(`${parts.pop()}\`${last}`);
  }
  return el(name, attributes, ...parts.map((part, at) => (at % 2 === 1 ? el("code", {}, part) : part)));
}

/** Creates the mark of an escaped character, which differs from literal text. */
export function escapeMark(character) {
  return el("span", { class: "hidden-character" }, shown(character));
}

/** Returns text as children of an element; `mark` creates the mark of each character that is escaped. */
export function markedText(characters, mark = escapeMark) {
  const all = [];
  let plain = "";
  for (const character of characters) {
    if (shown(character) === character) {
      plain += character;
      continue;
    }
    if (plain) all.push(plain);
    plain = "";
    all.push(mark(character));
  }
  if (plain) all.push(plain);
  return all;
}

/** Dispatches an event to all shown elements of a question; to those of every question if `id` is null. */
export function dispatch(id, type, detail) {
  const selector = id === null ? "[data-questions]" : `[data-questions~="${Number(id)}"]`;
  for (const element of document.querySelectorAll(selector)) element.dispatchEvent(new CustomEvent(type, { detail }));
}

/** Announces a text to screen readers. */
export function say(text) {
  document.getElementById("say").textContent = text;
}

/** Converts an identifier to words: `REQUIRES_CONFIRMATION` is "requires confirmation". */
export function words(name) {
  return name.toLowerCase().replaceAll("_", " ");
}
