// expects: error bad_return
export default function (context) {
  return { out: { get text() { throw new Error('in a getter'); } } };
}
