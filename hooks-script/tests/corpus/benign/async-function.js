// in: {"text":"hello world"}
// out: {"text":"later"}
export default async function ({ in: message }) {
  await null;
  return { out: { ...message, text: 'later' } };
}
