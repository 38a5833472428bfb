// expects: interrupted fuel
export default function (context) {
  /^(a+)+$/.test('a'.repeat(40) + 'b');
}
