// The page for an address that the console does not have.

import { el, told } from "./dom.js";

/** Shows the page. */
export function missing(main) {
  const path = location.pathname;
  main.append(
    el("h1", {}, "Page not found"),
    el(
      "div",
      { class: "empty" },
      el("p", { class: "large" }, "The console has no page ", told("code", path)),
      el("p", {}, "Go to the ", el("a", { href: "/" }, "inbox"), ", or to the ", el("a", { href: "/trail" }, "trail"), " to look for a decision."),
    ),
  );
  return {};
}
