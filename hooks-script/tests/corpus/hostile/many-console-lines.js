// expects: out
export default function (context) {
  for (let i = 0; i < 5000; i++) console.log('line ' + i);
  return { out: context.in };
}
