// Exception that a hook throws to stop an action:
//
//     throw new HookStopException("Message blocked due to use of prohibited words.");
//
// Extend it to name the reason; the name of the class is the category of the rejection:
//
//     class HateSpeechBlock extends HookStopException {}
//     throw new HateSpeechBlock("Toxic language detected.");
//
// The class is a global. The engine recognizes an instance by a private field, which only this
// constructor can create, not by its name, prototype or properties.
class HookStopException extends Error {
  #stop = true;

  constructor(message, options) {
    super(message, options);
    Object.defineProperty(this, "name", {
      value: new.target.name || "HookStopException",
      writable: true,
      configurable: true,
    });
    // The stack trace starts at the throw, if the engine supports this.
    Error.captureStackTrace?.(this, new.target);
  }

  /** Returns `true` for instances (of subclasses). */
  static isHookStop(value) {
    return typeof value === "object" && value !== null && #stop in value;
  }
}
