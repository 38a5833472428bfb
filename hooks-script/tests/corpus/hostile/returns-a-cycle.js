// expects: error bad_return
export default function (context) {
  const out = {};
  out.out = out;
  return { out };
}
