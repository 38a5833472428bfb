// expects: interrupted fuel
export default function (context) {
  for (let i = 0; ; i++) Symbol.for('k' + i);
}
