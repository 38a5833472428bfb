// Dialogs over the page.

import { el } from "./dom.js";

/** Creates a dialog with a title and a button to close it; `opened` is called before it is shown. */
export function dialog(id, title, content, opened = () => {}) {
  const made = el(
    "dialog",
    {
      id,
      "aria-labelledby": `${id}-title`,
      click(event) {
        // A click on the backdrop.
        if (event.target === made) made.close();
      },
    },
    el(
      "div",
      { class: "inside" },
      el("div", { class: "head" }, el("h2", { id: `${id}-title` }, title), el("button", { type: "button", class: "quiet", click: () => made.close() }, "Close")),
      content,
    ),
  );
  document.body.append(made);
  return {
    element: made,
    open() {
      opened();
      if (!made.open) made.showModal();
    },
  };
}
