// in: {"text":"hello world"}
// out: {"text":"HELLO WORLD"}
export default function (context) {
  return { out: { ...context.in, text: context.in.text.toUpperCase() } };
}
