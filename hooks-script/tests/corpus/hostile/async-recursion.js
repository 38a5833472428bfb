// expects: interrupted jobs
export default function (context) {
  const again = async () => { await null; await again(); };
  return again();
}
