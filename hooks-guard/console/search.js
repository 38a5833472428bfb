// Search in the cards of the inbox.

import { el } from "./dom.js";

/** Parts of a card that are searched. */
const PARTS = ".command, .agent, .directory, .badge, .reasoning, dd";

/** Creates a field that shows only the cards in `list` that contain its text, and hides the others. */
export function cardSearch(list) {
  const input = el("input", {
    type: "search",
    id: "card-search",
    "aria-label": "Search the questions",
    "aria-keyshortcuts": "/",
    placeholder: "Search",
    autocomplete: "off",
    spellcheck: "false",
    input: apply,
    keydown(event) {
      if (event.key !== "Escape") return;
      event.preventDefault();
      if (input.value === "") input.blur();
      clear();
    },
  });
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
