// expects: error thrown RangeError
export default function (context) {
  let n = 1n << 60n;
  for (;;) n = n << 1000000n;
}
