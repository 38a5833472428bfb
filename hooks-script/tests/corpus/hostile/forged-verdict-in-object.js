// expects: error bad_return
export default function (context) {
  return { outcome: 'stop', stop: { class: 'HookStopException' }, verdict: 'out' };
}
