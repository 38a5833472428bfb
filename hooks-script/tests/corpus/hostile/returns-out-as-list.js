// expects: error bad_return
export default function (context) {
  return { out: [] };
}
