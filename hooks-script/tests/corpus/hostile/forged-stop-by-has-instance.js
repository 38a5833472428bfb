// expects: error thrown Error
export default function (context) {
  Object.defineProperty(Error, Symbol.hasInstance, { value: () => true });
  throw new Error('forged');
}
