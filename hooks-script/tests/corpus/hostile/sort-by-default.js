// expects: interrupted fuel
export default function (context) {
  const list = Array.from({ length: 5000 }, (_, i) => (i * 7919) % 5000);
  for (;;) [...list].sort();
}
