// expects: error thrown TypeError
export default function (context) {
  return { out: (async () => {}).constructor('return {}') };
}
