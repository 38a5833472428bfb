// expects: interrupted heap
export default function (context) {
  let text = 'ab';
  for (;;) { text += text; text.charCodeAt(text.length - 1); }
}
