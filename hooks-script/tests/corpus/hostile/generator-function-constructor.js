// expects: error thrown TypeError
export default function (context) {
  return { out: function* () {}.constructor('yield') };
}
