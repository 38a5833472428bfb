// Types for authors of script hooks. In a hook written in JavaScript:
//
//     /// <reference path="hook.d.ts" />
//     /** @type {import("./hook").PreHook} */
//     export default function (context) { … }

/** What JSON can hold. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A message: an object whose fields the server names. */
export type Message = { [key: string]: Json };

/** The public fields of something, as the server declares them. */
export type Public = { readonly [field: string]: Json };

/** What a hook is given. Each run has its own: changing it changes nothing else. */
export interface HookContext {
  /** `"pre"`: before the action; `"post"`: after it. */
  stage: "pre" | "post";
  /** The message, as the hooks before this one left it. */
  in: Message;
  /** What the manifest asks for, where the server has it. */
  data: { user?: Public; channel?: Public; guild?: Public };
  /** Only after an action, and only where the user has agreed to it; absent elsewhere. */
  http?: Http;
}

/** Requests that the server sends when the run is over, or does not; no answer comes back. */
export interface Http {
  /**
   * Asks for a `POST`. A body that is no text goes as JSON. Throws a `RangeError` where the
   * outbox is full.
   */
  post(url: string, body: Json): void;
}

/** The message from now on. */
export interface PreResult {
  out: Message;
}

/** A hook that runs before an action. */
export type PreHook = (context: HookContext) => PreResult | PromiseLike<PreResult>;

/** A hook that runs after an action. What it returns is ignored; a promise is waited for. */
export type PostHook = (context: HookContext) => unknown;

/** What a hook says about itself: `manifest.json`. */
export interface Manifest {
  /** Where the hook comes from. */
  source: string;
  /** What people call the hook. */
  name: string;
  /** What the hook asks to see. */
  context: ("user" | "channel" | "guild")[];
  /** The version that it is for: `sha256-` and the hash of the source in hexadecimal digits. */
  hash?: `sha256-${string}`;
}

declare global {
  /** The same object as the parameter of the hook. There is none at the top level. */
  const context: HookContext;

  /**
   * Thrown to stop the action. The name of a subclass is the category of the rejection.
   */
  class HookStopException extends Error {
    #stop: true;
    constructor(message?: string, options?: { cause?: unknown });
    /** Whether `value` is one, or one of a subclass. */
    static isHookStop(value: unknown): value is HookStopException;
  }

  /** Calls a function when the code that runs has ended. What it throws is thrown by the hook. */
  function queueMicrotask(callback: () => void): void;

  /** Lines for whoever runs the hook; bounded in number and length. */
  interface Console {
    log(...values: unknown[]): void;
    info(...values: unknown[]): void;
    warn(...values: unknown[]): void;
    error(...values: unknown[]): void;
    debug(...values: unknown[]): void;
  }
  // As the types of browsers declare it, for those who have them as well.
  var console: Console;
}
