// Elements. Whatever is shown goes through here, as text and never as markup.

import { escape } from "./escape.js";

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

/** An element: functions among the attributes listen to the event of their name. */
export function el(name, attributes = {}, ...children) {
  return build(document.createElement(name), attributes, children);
}

/** The same for a drawing. */
export function svg(name, attributes = {}, ...children) {
  return build(document.createElementNS(SVG, name), attributes, children);
}

/** Text from elsewhere in an element of its own; `fallback` where there is none. */
export function told(name, text, attributes = {}, fallback = "–") {
  return el(name, attributes, text === undefined || text === null || text === "" ? fallback : escape(text));
}

/** Says something to who cannot see the page. */
export function say(text) {
  document.getElementById("say").textContent = text;
}

/** A name for programs as one for people: `REQUIRES_CONFIRMATION` is "requires confirmation". */
export function words(name) {
  return name.toLowerCase().replaceAll("_", " ");
}
