// expects: error thrown SyntaxError
export default function (context) {
  new RegExp('('.repeat(50000) + ')'.repeat(50000));
}
