// Desktop notifications and a sound for new questions. Both are off until the operator turns them on.

import { escape } from "./escape.js";
import { flag, onFlags } from "./store.js";

/** Flags of the settings. */
export const NOTIFY = "notifications";
export const COMMANDS = "commands in notifications";
export const SOUND = "sound";
/** Time in which new questions are collected for one notification, in milliseconds. */
const BURST = 1000;
/** Locks of the browser, shared by the windows of the console. */
const VISIBLE = "hooks-guard visible";
const NOTIFIER = "hooks-guard notifier";
const PLAYER = "hooks-guard player";
/** Tones of the sound: frequency in hertz, and start in seconds. */
const TONES = [[659, 0], [880, 0.14]];
const MAX_CHARACTERS = 200;

/** Returns true if this browser can show notifications. */
export function canNotify() {
  return "Notification" in globalThis;
}

let audio = null;

/** Starts the sound of this window; browsers allow this only after a click or a key. */
export async function allowSound() {
  if (!("AudioContext" in globalThis)) return false;
  audio ??= new AudioContext();
  await audio.resume();
  return audio.state === "running";
}

/** Plays the sound once; returns false if the browser does not allow it yet. */
export function play() {
  if (audio?.state !== "running") return false;
  for (const [frequency, start] of TONES) {
    const at = audio.currentTime + start;
    const tone = new OscillatorNode(audio, { type: "sine", frequency });
    const volume = new GainNode(audio, { gain: 0 });
    volume.gain.setValueAtTime(0, at);
    volume.gain.linearRampToValueAtTime(0.2, at + 0.02);
    volume.gain.exponentialRampToValueAtTime(0.001, at + 0.3);
    tone.connect(volume).connect(audio.destination);
    tone.start(at);
    tone.stop(at + 0.32);
  }
  return true;
}

/** Returns the program of a command: its first word that is not an assignment, without the folder. */
function program(command) {
  const word = command.split(/\s+/).find((word) => word && !/^\w+=/.test(word)) ?? "";
  const name = word.replace(/^[("'{]+|[)"'};]+$/g, "").split("/").at(-1);
  return Array.from(name || "command").slice(0, 40).join("");
}

/** Returns title and body of the notification of these questions. */
function text(records) {
  const [first] = records;
  if (records.length > 1) {
    const counts = new Map();
    for (const { classification } of records) counts.set(classification, (counts.get(classification) ?? 0) + 1);
    return [`${records.length} new questions`, [...counts].map(([name, count]) => `${count} ${name}`).join(", ")];
  }
  const command = Array.from(escape(first.command));
  const shown = command.length > MAX_CHARACTERS ? `${command.slice(0, MAX_CHARACTERS).join("")}…` : command.join("");
  return [`${first.classification} from ${escape(first.agent ?? "an unknown agent")}`, flag(COMMANDS) ? shown : escape(program(first.command))];
}

/**
 * Notifies of new questions. `isOpen(id)` returns true while a question is pending, and `show(id)`
 * shows it in this window.
 */
export function notifier(isOpen, show) {
  let fresh = [];
  let due = null;
  /** Displayed notifications, with the ids of their open questions. */
  const displayed = new Map();
  const leads = { [NOTIFIER]: false, [PLAYER]: false };
  const locks = navigator.locks;

  /** Waits until no other window has this task; a window keeps it until it is closed. */
  function lead(name) {
    locks?.request(name, () => {
      leads[name] = true;
      return new Promise(() => {});
    });
  }

  // Each visible window holds a shared lock.
  let release = null;
  function visibility() {
    release?.();
    release = null;
    if (document.visibilityState === "visible") {
      locks?.request(VISIBLE, { mode: "shared" }, () => (document.visibilityState === "visible" ? new Promise((end) => (release = end)) : null));
    }
  }
  visibility();
  document.addEventListener("visibilitychange", visibility);

  async function isSeen() {
    if (document.visibilityState === "visible") return true;
    const held = (await locks?.query())?.held ?? [];
    return held.some(({ name }) => name === VISIBLE);
  }

  async function flush() {
    due = null;
    const records = fresh.filter(({ id }) => isOpen(id));
    fresh = [];
    if (records.length === 0) return;
    if (flag(SOUND) && (leads[PLAYER] || !locks)) play();
    if (!flag(NOTIFY) || !(leads[NOTIFIER] || !locks) || !canNotify() || Notification.permission !== "granted") return;
    if (await isSeen()) return;
    const [title, body] = text(records);
    const notification = new Notification(title, { body, tag: `hooks-guard ${records.at(-1).id}`, icon: "/console/icon.svg" });
    displayed.set(notification, new Set(records.map(({ id }) => id)));
    notification.addEventListener("close", () => displayed.delete(notification));
    notification.addEventListener("click", () => {
      window.focus();
      notification.close();
      show(records[0].id);
    });
  }

  lead(NOTIFIER);
  // Only a window in which the operator has clicked can play.
  let plays = false;
  const ready = () => {
    if (plays || !flag(SOUND) || audio?.state !== "running") return;
    plays = true;
    lead(PLAYER);
  };
  const gesture = async () => {
    if (!plays && flag(SOUND) && (await allowSound())) ready();
  };
  addEventListener("pointerdown", gesture);
  addEventListener("keydown", gesture);
  onFlags(ready);

  return {
    asked(record) {
      fresh.push(record);
      due ??= setTimeout(flush, BURST);
    },
    /** Closes a notification when all of its questions are answered. */
    closed(id) {
      for (const [notification, ids] of displayed) if (ids.delete(id) && ids.size === 0) notification.close();
    },
  };
}
