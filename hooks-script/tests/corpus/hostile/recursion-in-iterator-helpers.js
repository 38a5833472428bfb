// expects: interrupted stack
export default function (context) {
  let all = [1].values();
  for (let i = 0; i < 5000; i++) all = all.map((x) => x);
  return { out: { all: all.next() } };
}
