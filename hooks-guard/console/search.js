// Fields for a search as the operator types, and the search in the cards of the inbox.

import { el } from "./dom.js";

/** Parts of a card that are searched. */
const PARTS = ".command, .agent, .directory, .badge, .reasoning, dd";

/**
 * Creates a search field, which the key `/` selects. Calls `typed` after each letter. Escape clears the
 * field and calls `cleared`, or leaves the field if it is empty.
 */
export function searchInput(attributes, typed, cleared = typed) {
  const input = el("input", {
    type: "search",
    "aria-keyshortcuts": "/",
    autocomplete: "off",
    spellcheck: "false",
    ...attributes,
    input: typed,
    keydown(event) {
      if (event.key !== "Escape") return;
      event.preventDefault();
      if (input.value === "") {
        input.blur();
        return;
      }
      input.value = "";
      cleared();
    },
  });
  return input;
}

/** Creates a field that shows only the cards in `list` that contain its text, and hides the others. */
export function cardSearch(list) {
  const input = searchInput({ id: "card-search", "aria-label": "Search the questions", placeholder: "Search" }, apply);
  const found = el("span", { role: "status" });
  const line = el("p", { class: "line quiet-text", id: "cards-found", hidden: true }, found, el("button", { type: "button", click: clear }, "Clear search"));
  const field = el("div", { class: "field search", hidden: true }, input);

  function clear() {
    input.value = "";
    apply();
  }

  function apply() {
    const text = input.value.toLowerCase();
    const cards = [...list.children];
    for (const card of cards) {
      const words = [...card.querySelectorAll(PARTS)].map((part) => part.textContent).join("\n");
      card.hidden = !words.toLowerCase().includes(text);
    }
    const count = cards.filter((card) => !card.hidden).length;
    field.hidden = cards.length === 0 && text === "";
    line.hidden = text === "";
    const message = count === 0 ? "No shown question matches the search." : `${count} of ${cards.length} shown ${cards.length === 1 ? "question" : "questions"} ${count === 1 ? "matches" : "match"} the search.`;
    if (found.textContent !== message) found.textContent = message;
  }

  new MutationObserver(apply).observe(list, { childList: true });
  return { input, field, line };
}
