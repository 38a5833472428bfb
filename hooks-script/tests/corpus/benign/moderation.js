// in: {"text":"buy CHEAP pills at http://spam.example now"}
// out: {"text":"buy ***** pills at [link] now","flags":["word","link"]}
const words = ["cheap", "free money"];
const patterns = words.map((word) => new RegExp(`\\b${word}\\b`, "gi"));
const link = /https?:\/\/[^\s]+/g;

export default function ({ in: message }) {
  const flags = [];
  let { text } = message;
  for (const pattern of patterns) {
    text = text.replace(pattern, (word) => {
      flags.push("word");
      return "*".repeat(word.length);
    });
  }
  text = text.replace(link, () => {
    flags.push("link");
    return "[link]";
  });
  return { out: { ...message, text, flags } };
}
