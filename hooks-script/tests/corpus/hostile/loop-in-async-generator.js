// expects: interrupted jobs
async function* forever() { for (;;) yield 1; }
export default async function () {
  for await (const _ of forever()) {}
}
