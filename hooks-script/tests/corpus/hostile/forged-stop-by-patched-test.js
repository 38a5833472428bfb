// expects: error thrown Error
export default function (context) {
  try { HookStopException.isHookStop = () => true; } catch {}
  throw new Error('forged');
}
