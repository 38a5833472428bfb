// in: {"text":"hello world"}
// out: {"now":0,"year":1970,"zone":0,"still":true}
export default () => {
  const begin = Date.now();
  for (let i = 0; i < 10000; i++);
  return { out: { now: begin, year: new Date().getFullYear(), zone: new Date().getTimezoneOffset(), still: Date.now() === begin } };
};
