// expects: error thrown HookStopException
export default function (context) {
  throw Object.create(HookStopException.prototype, { message: { value: 'forged' } });
}
