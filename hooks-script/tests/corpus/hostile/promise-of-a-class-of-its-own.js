// expects: stop HookStopException
class Lazy extends Promise {
  constructor(start) {
    super((resolve) => resolve({ out: { text: 'unchecked' } }));
    this.start = start;
  }
  static get [Symbol.species]() { return Promise; }
  then(done, failed) { return new Promise(this.start).then(done, failed); }
}
export default () => new Lazy((resolve, reject) => reject(new HookStopException('blocked')));
