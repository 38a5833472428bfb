// expects: interrupted fuel
export default function (context) {
  for (let i = 0; ; i++) new RegExp('(a|b|c){1,100}' + i);
}
