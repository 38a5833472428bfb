// expects: interrupted fuel
export default function (context) {
  class Stop extends HookStopException {}
  Object.defineProperty(Stop, 'name', { get() { for (;;) {} } });
  throw new Stop('x');
}
