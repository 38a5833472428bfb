// expects: error bad_return
export default function (context) {
  return { out: { n: 1n } };
}
