// in: {"text":"hello world"}
// out: {"words":["hello","world"],"named":"hello"}
export default ({ in: { text } }) => ({
  out: { words: text.match(/\p{L}+/gu), named: /(?<first>\w+)/.exec(text).groups.first },
});
