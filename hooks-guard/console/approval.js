// State of the approval of a decision: how long it lasts, and if it still applies.

import { get } from "./api.js";
import { el, prose } from "./dom.js";
import { escape } from "./escape.js";
import { when } from "./time.js";

const SCOPES = { once: "once", session: "this session", always: "always" };
const STATES = {
  unused: "not used yet",
  used: "used",
  expired: "expired unused",
  active: "active",
  revoked: "revoked",
  changed: "does not apply at present",
};

/** Creates the text about the approval of a decision, which the service reads for one record at a time. */
export function approvalState(record) {
  const element = el("span", {}, "–");
  if (record.user_response !== "APPROVED") return element;
  const show = ({ approval }) => {
    if (!approval) return;
    const text = [SCOPES[approval.remember] ?? approval.remember, STATES[approval.state] ?? approval.state].map(escape).join(", ");
    element.replaceChildren(
      text,
      ...(approval.revoked_at ? [" ", when(approval.revoked_at), ` by ${escape(approval.revoked_by ?? "–")}`] : []),
      ...(approval.reason ? [": ", prose("span", approval.reason)] : []),
    );
  };
  // Without a response, the state stays unknown.
  get(`/api/hooks/decisions/${record.id}`).then(show, () => {});
  return element;
}
