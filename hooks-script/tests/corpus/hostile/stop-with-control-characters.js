// expects: stop HookStopException
export default function (context) {
  throw new HookStopException('\u001b[2J\u0000\u202e');
}
