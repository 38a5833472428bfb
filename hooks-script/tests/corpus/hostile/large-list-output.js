// expects: interrupted output
export default function (context) {
  return { out: { list: new Array(20000).fill('twelve bytes') } };
}
