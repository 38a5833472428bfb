// Answers each line, a number of runs, with the microseconds that one took: a fresh context
// of `vm` each. A context is no sandbox; this is what it costs.
const vm = require("node:vm");
const [source, input] = process.argv.slice(1);
const script = source.replace("export default ", "globalThis.hook = ");

function run() {
  const context = vm.createContext({ input });
  new vm.Script(script).runInContext(context);
  const out = vm.runInContext("JSON.stringify(hook(JSON.parse(input)))", context);
  if (!JSON.parse(out).out.text) throw new Error("no output");
}

require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const began = process.hrtime.bigint();
  for (let left = Number(line); left > 0; left--) run();
  console.log(Number(process.hrtime.bigint() - began) / 1000 / Number(line));
});
