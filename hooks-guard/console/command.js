// A command, with its parts highlighted by effect, and the deciding part marked.

import { el, escapeMark, markedText, words } from "./dom.js";

/** Maximum number of characters on one line; no window shows more. */
const LINE = 400;
/** The classes, from the weakest effect to the strongest. */
export const CLASSES = ["READ", "CREATE", "UPDATE", "DELETE"];

/** Class of a command, as a coloured word. */
export function badge(effect) {
  return el("span", { class: "badge", "data-effect": effect }, effect);
}

/** Command of a record. Positions count characters, not UTF-16 units of a string. */
export function command(record, { oneLine = false } = {}) {
  const all = Array.from(record.command);
  const characters = oneLine ? all.slice(0, LINE) : all;
  const effects = characters.map(() => -1);
  const decided = characters.map(() => false);
  for (const part of record.parts ?? []) {
    for (let at = part.start; at < Math.min(part.end, characters.length); at += 1) {
      effects[at] = Math.max(effects[at], CLASSES.indexOf(part.effect));
      decided[at] ||= part.decided === true;
    }
  }
  const code = el("code", { class: "command" });
  const mark = oneLine ? escapeMark : lineMark;
  let from = 0;
  for (let at = 1; at <= characters.length; at += 1) {
    if (at < characters.length && effects[at] === effects[from] && decided[at] === decided[from]) continue;
    code.append(piece(markedText(characters.slice(from, at), mark), effects[from], decided[from]));
    from = at;
  }
  return code;
}

function piece(content, effect, decided) {
  if (effect < 0) return el("span", {}, ...content);
  const name = CLASSES[effect];
  const title = decided ? `Deciding part: ${words(name)}` : words(name);
  return el(decided ? "mark" : "span", { "data-effect": name, title }, ...content);
}

/** Marks an escaped character. A line also ends after the mark of its end. */
function lineMark(character) {
  return character === "\n" ? [escapeMark(character), "\n"] : escapeMark(character);
}
