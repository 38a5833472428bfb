// expects: interrupted jobs
export default function (context) {
  const next = { then(resolve) { resolve(next); } };
  return next;
}
