// expects: error thrown HookStopException
export default function (context) {
  class HookStopException extends Error {}
  throw new HookStopException('forged');
}
