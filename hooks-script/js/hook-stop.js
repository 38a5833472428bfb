// What a hook throws to stop the action that it is asked about:
//
//     throw new HookStopException("Message blocked due to use of prohibited words.");
//
// Extend it to name the reason; the name of the class is the category of the rejection:
//
//     class HateSpeechBlock extends HookStopException {}
//     throw new HateSpeechBlock("Toxic language detected.");
//
// Hooks find the class as a global. It is known by a private field, which only its own
// constructor makes: not by its name, its prototype, or what an object looks like.
class HookStopException extends Error {
  #stop = true;

  constructor(message, options) {
    super(message, options);
    Object.defineProperty(this, "name", {
      value: new.target.name || "HookStopException",
      writable: true,
      configurable: true,
    });
    // The trace begins where it is thrown, where an engine can do that.
    Error.captureStackTrace?.(this, new.target);
  }

  /** Whether `value` is one, or one of a subclass. */
  static isHookStop(value) {
    return typeof value === "object" && value !== null && #stop in value;
  }
}
