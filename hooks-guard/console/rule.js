// A proposal of a rule for the command of a decision. The page shows it; only the user writes rules.

import { get, isSignedIn, messageOf } from "./api.js";
import { dialog } from "./dialog.js";
import { el, prose, say } from "./dom.js";
import { escape } from "./escape.js";

/** Creates the button that proposes a rule for the decision whose id `id` returns. */
export function ruleButton(id) {
  return el("button", { type: "button", class: "small", "data-rule": true, "aria-haspopup": "dialog", click: () => showRule(id()) }, "Make a rule of this");
}

/** Shows a proposed rule in a dialog. */
async function showRule(id) {
  const content = el("div", {}, el("p", { class: "quiet-text" }, "Loading."));
  const shown = dialog("rule", `Rule for decision ${id}`, content);
  shown.element.addEventListener("close", () => shown.element.remove());
  shown.open();
  const fail = (text) => content.replaceChildren(prose("p", text, { class: "problem", role: "alert" }));
  if (!isSignedIn()) {
    fail("Sign in on the inbox to get a rule.");
    return;
  }
  try {
    content.replaceChildren(...proposal(await get(`/api/hooks/decisions/${id}/rule`)));
  } catch (error) {
    fail(messageOf(error));
  }
}

function proposal({ toml, file }) {
  const text = el("code", {}, toml.split("\n").map(escape).join("\n"));
  const box = el("pre", { class: "rule-text", tabindex: "0", "aria-label": "The rule" }, text);
  const status = el("span", { class: "quiet-text", role: "status" });
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(toml);
      status.textContent = "Copied.";
    } catch {
      // Without HTTPS, only pages of this machine may write to the clipboard.
      getSelection().selectAllChildren(text);
      status.textContent = "Selected; copy it with Ctrl+C.";
    }
    say(status.textContent);
  };
  return [
    prose("p", `This rule allows the command without a question. Check it, and append it to \`${file}\`; the console does not change the file. Then run \`hooks-guard test-rules\`.`),
    box,
    el("div", { class: "step-buttons" }, el("button", { type: "button", class: "primary", "data-copy": true, click: copy }, "Copy"), status),
  ];
}
