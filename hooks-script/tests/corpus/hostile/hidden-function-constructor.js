// expects: error thrown TypeError
export default function (context) {
  return { out: (() => {}).constructor('return {}')() };
}
