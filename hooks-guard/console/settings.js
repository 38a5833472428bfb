// Settings of this browser: notifications, sound and times.

import { dialog } from "./dialog.js";
import { el } from "./dom.js";
import { allowSound, canNotify, COMMANDS, NOTIFY, play, SOUND } from "./notify.js";
import { flag, onFlags, setFlag } from "./store.js";
import { EXACT } from "./time.js";

const BLOCKED = "The browser blocks notifications of this page; allow them in its settings for this site.";

/** Creates the panel of the settings, which `button` opens. */
export function settings(button) {
  const problem = el("p", { class: "problem", role: "alert" });
  const all = [
    check("setting-notify", "Notify me of new questions", "Shows class and program on the desktop, while no window of the console is visible. The browser asks for permission.", NOTIFY, notify),
    check("setting-commands", "Show the whole command in notifications", "Other people may read it on a locked screen.", COMMANDS),
    check("setting-sound", "Play a sound for new questions", "Also while a window is visible. After each start, the browser plays sounds only once you have clicked on the page.", SOUND, sound),
    check("setting-exact", "Show exact times", "Instead of relative ones, such as “3 min ago”.", EXACT),
  ];
  const panel = dialog(
    "settings",
    "Settings",
    el(
      "div",
      { class: "settings" },
      ...all.map(({ element }) => element),
      problem,
      el("p", { class: "hint" }, "They apply to this browser, which stores them."),
    ),
    draw,
  );
  button.addEventListener("click", panel.open);
  onFlags(draw);

  function draw() {
    problem.textContent = "";
    for (const { input, name } of all) input.checked = flag(name);
    const [notifies, commands] = all;
    // The operator may have taken the permission back.
    if (canNotify() && Notification.permission === "denied") {
      notifies.input.checked = false;
      problem.textContent = flag(NOTIFY) ? BLOCKED : "";
    }
    notifies.input.disabled = !canNotify();
    commands.input.disabled = !notifies.input.checked;
  }

  /** Asks for the permission; only the operator's click gets here. */
  async function notify(on) {
    if (!on) return true;
    const permission = await Notification.requestPermission();
    if (permission === "granted") return true;
    return permission === "denied" ? BLOCKED : "The browser did not allow notifications; try again.";
  }

  async function sound(on) {
    if (!on) return true;
    return (await allowSound()) && play() ? true : "This browser cannot play the sound.";
  }

  function check(id, label, hint, name, allow = () => true) {
    const input = el("input", {
      type: "checkbox",
      id,
      "aria-describedby": `${id}-hint`,
      async change() {
        const on = input.checked;
        const allowed = await allow(on);
        setFlag(name, on && allowed === true);
        draw();
        if (allowed !== true) problem.textContent = allowed;
      },
    });
    const element = el("div", { class: "setting" }, input, el("label", { for: id }, label), el("p", { class: "hint", id: `${id}-hint` }, hint));
    return { element, input, name };
  }
}
