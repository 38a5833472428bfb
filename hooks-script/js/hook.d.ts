// Types for authors of script hooks. In a hook written in JavaScript:
//
//     /// <reference path="hook.d.ts" />
//     /** @type {import("./hook").PreHook} */
//     export default function (context) { … }

/** A JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A message: an object with fields that the server defines. */
export type Message = { [key: string]: Json };

/** The public fields of a user, channel or guild, as declared by the server. */
export type Public = { readonly [field: string]: Json };

/** The input of a hook. Each run has its own copy, so changes have no effect elsewhere. */
export interface HookContext {
  /** `"pre"`: before the action; `"post"`: after it. */
  stage: "pre" | "post";
  /** The message, as returned by the previous hook. */
  in: Message;
  /** The context data that the manifest requests, if the server has it. */
  data: { user?: Public; channel?: Public; guild?: Public };
  /** Present only after an action, and only if the user has consented. */
  http?: Http;
}

/** Outbound requests. The server may send them after the run; the hook gets no response. */
export interface Http {
  /**
   * Requests a `POST`. A body that is not a string is sent as JSON. Throws a `RangeError` if the
   * outbox is full.
   */
  post(url: string, body: Json): void;
}

/** The new message. */
export interface PreResult {
  out: Message;
}

/** A hook that runs before an action. It returns nothing to leave the message unchanged. */
export type PreHook = (context: HookContext) => PreResult | void | PromiseLike<PreResult | void>;

/** A hook that runs after an action. Its return value is ignored; a promise is awaited. */
export type PostHook = (context: HookContext) => unknown;

/** The manifest of a hook: `manifest.json`. */
export interface Manifest {
  /** Origin of the hook. */
  source: string;
  /** Display name of the hook. */
  name: string;
  /** Context data that the hook requests. */
  context: ("user" | "channel" | "guild")[];
  /** Pinned version: `sha256-` and the hash of the source in hexadecimal digits. */
  hash?: `sha256-${string}`;
}

declare global {
  /** The parameter of the hook, as a global. Not available at the top level. */
  const context: HookContext;

  /**
   * Thrown to stop the action. The name of a subclass is the category of the rejection.
   */
  class HookStopException extends Error {
    #stop: true;
    constructor(message?: string, options?: { cause?: unknown });
    /** Returns `true` if `value` is an instance of this class or of a subclass. */
    static isHookStop(value: unknown): value is HookStopException;
  }

  /** Calls a function after the current code. The hook throws the function's exceptions. */
  function queueMicrotask(callback: () => void): void;

  /** Writes lines for the operator; limited in number and length. */
  interface Console {
    log(...values: unknown[]): void;
    info(...values: unknown[]): void;
    warn(...values: unknown[]): void;
    error(...values: unknown[]): void;
    debug(...values: unknown[]): void;
  }
  // Declared with `var`, like in the browser types, so that both can be used together.
  var console: Console;
}
