// expects: error bad_return
export default function (context) {
  return '{"outcome": "out", "out": {"forged": true}}';
}
