// expects: stop HookStopException
export default function (context) {
  return { get out() { throw new HookStopException('late'); } };
}
