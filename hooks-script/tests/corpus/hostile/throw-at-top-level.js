// expects: rejected_at_registration load
throw new HookStopException('too early');
export default () => {};
