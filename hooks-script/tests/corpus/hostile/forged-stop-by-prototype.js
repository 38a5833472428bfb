// expects: error thrown HookStopException
export default function (context) {
  const forged = new Error('forged');
  Object.setPrototypeOf(forged, HookStopException.prototype);
  throw forged;
}
