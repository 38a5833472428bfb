// expects: stop HookStopException
export default function (context) {
  (async () => { throw new HookStopException('forgotten'); })();
  return { out: context.in };
}
