// expects: error thrown ReferenceError
export default function (context) {
  return { out: eval('({})') };
}
