// Remembered approvals: what they cover, and their revocation.

import { act, get, isSignedIn, messageOf } from "./api.js";
import { confirmStep } from "./answers.js";
import { badge, command } from "./command.js";
import { el, prose, say, told } from "./dom.js";
import { number, when } from "./time.js";

/** Delay before the list is read again, in milliseconds, because events come in bursts. */
const MOMENT = 300;
/** Number of approvals shown at first, and added by each press of a button. */
const PAGE = 20;

/** Creates the section that lists remembered approvals, newest first. */
export function rememberedApprovals() {
  let approvals = null;
  let shown = PAGE;
  let reading = null;
  let reads = 0;
  const count = el("span", { class: "quiet-text" });
  const list = el("ul", { class: "remembered" });
  const problem = el("p", { class: "problem", role: "alert" });
  const empty = el("p", { class: "quiet-text", hidden: true }, "No remembered approvals. The answers “This session” and “Always” remember one.");
  const more = el("button", { type: "button", hidden: true, click: showMore }, "Show more");
  const element = el("section", { class: "feed", "aria-labelledby": "remembered" }, el("h2", { id: "remembered" }, "Remembered approvals ", count), empty, list, more, problem);

  /** Reads all pages: the service returns the oldest approvals first. */
  async function read() {
    reads += 1;
    const own = reads;
    try {
      const all = [];
      let after = "";
      do {
        const page = await get("/api/hooks/remembered", { after });
        all.push(...page.remembered);
        after = page.next ?? "";
      } while (after);
      // A later call reads newer data.
      if (own !== reads) return;
      approvals = all.reverse();
      problem.textContent = "";
      draw();
    } catch (error) {
      if (own === reads) problem.textContent = messageOf(error);
    }
  }

  function readSoon() {
    reading ??= setTimeout(() => {
      reading = null;
      read();
    }, MOMENT);
  }

  function draw() {
    count.textContent = approvals.length > 0 ? number(approvals.length) : "";
    empty.hidden = approvals.length > 0;
    const visible = approvals.slice(0, shown);
    const old = new Map([...list.children].map((item) => [item.dataset.approval, item]));
    // Existing items keep their open second step and the focus.
    const wanted = visible.map((approval) => old.get(String(approval.id)) ?? item(approval));
    for (const one of [...list.children]) if (!wanted.includes(one)) one.remove();
    wanted.forEach((one, at) => {
      if (list.children[at] !== one) list.insertBefore(one, list.children[at] ?? null);
    });
    more.hidden = approvals.length <= shown;
    enable();
  }

  function showMore() {
    const first = list.children.length;
    shown += PAGE;
    draw();
    list.children[first]?.querySelector("button")?.focus();
  }

  function item(approval) {
    const failed = el("p", { class: "problem", role: "alert" });
    const revoke = el("button", { type: "button", class: "small deny", "data-revoke": true, click: ask }, "Revoke", el("span", { class: "unseen" }, ` approval ${approval.id}`));
    let step = null;

    function close() {
      step?.element.remove();
      step = null;
      revoke.hidden = false;
      revoke.focus();
    }

    function ask() {
      step = confirmStep("Revoke this approval? The next request of this command needs approval again.", "Revoke", send, close);
      revoke.hidden = true;
      made.insertBefore(step.element, failed);
      enable();
      step.focus();
    }

    async function send() {
      for (const button of step.element.querySelectorAll("button")) button.disabled = true;
      try {
        await act("DELETE", `/api/hooks/remembered/${approval.id}`);
        say(`Approval ${approval.id} revoked`);
        element.querySelector("h2").focus();
        await read();
      } catch (error) {
        close();
        failed.textContent = error.status === 404 ? "Already revoked elsewhere." : messageOf(error);
        if (error.status === 404) readSoon();
      }
    }

    const always = !approval.session_id;
    const made = el(
      "li",
      { "data-approval": String(approval.id) },
      el(
        "div",
        { class: "remembered-head" },
        approval.classification && badge(approval.classification),
        el("span", { class: "scope" }, always ? "always" : "session"),
        !always && told("span", approval.session_id, { class: "directory" }),
        el("span", { class: "quiet-text" }, "since ", when(approval.created_at), " by "),
        told("span", approval.created_by),
        approval.decision_id && el("a", { href: `/trail?id=${approval.decision_id}` }, `decision ${approval.decision_id}`),
        revoke,
      ),
      el("div", { class: "box" }, command(approval)),
      el(
        "p",
        { class: "quiet-text" },
        approval.holds ? prose("span", approval.holds.replace(/^`always` applies/u, "Applies")) : "Applies to no request: an earlier version did not record what it covers. Revoke it.",
      ),
      failed,
    );
    return made;
  }

  function enable() {
    for (const button of element.querySelectorAll("li button")) button.disabled = !isSignedIn();
  }

  element.querySelector("h2").tabIndex = -1;
  return { element, read, readSoon, enable };
}
