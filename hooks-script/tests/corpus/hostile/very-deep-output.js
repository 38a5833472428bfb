// expects: interrupted fuel
export default function (context) {
  let deep = {};
  for (let i = 0; i < 1e5; i++) deep = { deep };
  return { out: deep };
}
