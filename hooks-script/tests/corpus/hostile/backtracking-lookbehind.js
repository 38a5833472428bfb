// expects: interrupted fuel
export default function (context) {
  /(?<=(a+)+)c/.test('a'.repeat(2000) + 'b');
}
