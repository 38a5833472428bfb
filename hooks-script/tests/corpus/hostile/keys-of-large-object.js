// expects: interrupted fuel
export default function (context) {
  const object = {};
  for (let i = 0; i < 5000; i++) object['k' + i] = i;
  for (;;) Object.keys(object);
}
