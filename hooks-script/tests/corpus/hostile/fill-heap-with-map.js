// expects: interrupted fuel
export default function (context) {
  const map = new Map();
  for (let i = 0; ; i++) map.set(i, [i, i, i]);
}
