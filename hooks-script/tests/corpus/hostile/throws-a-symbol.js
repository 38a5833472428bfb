// expects: error thrown throw
export default function (context) {
  throw Symbol('x');
}
