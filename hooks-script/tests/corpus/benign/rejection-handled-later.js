// in: {"text":"hello world"}
// out: {"ok":true}
export default async () => {
  const failing = Promise.reject(new Error('later'));
  await null;
  failing.catch(() => {});
  return { out: { ok: true } };
};
