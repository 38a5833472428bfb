// expects: error thrown Error
export default function (context) {
  Promise.reject(new Error('forgotten'));
  return { out: context.in };
}
