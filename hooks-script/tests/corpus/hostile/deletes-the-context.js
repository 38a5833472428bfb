// expects: out
export default function (context) {
  delete globalThis.context;
  context.stage = 'post';
  return { out: context.in };
}
