// expects: error thrown TypeError
export default function (context) {
  return { out: Reflect.construct(Object.getPrototypeOf(function () {}).constructor, ['return this']) };
}
