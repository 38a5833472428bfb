// expects: interrupted fuel
export default function (context) {
  const object = {};
  for (let i = 0; ; i++) object['property number ' + i] = { i };
}
