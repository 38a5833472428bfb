// expects: interrupted stack
export default function (context) {
  const object = { get self() { return this.self; } };
  return object.self;
}
