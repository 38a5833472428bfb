// expects: stop HookStopException
export default function (context) {
  const stop = new HookStopException('no');
  Object.defineProperty(stop, 'constructor', { get() { throw 1; } });
  throw stop;
}
