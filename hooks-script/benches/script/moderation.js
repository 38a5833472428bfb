// Thirty lines, as a moderator would write them: words, links, shouting, and a score.
const words = ["cheap", "free money", "winner", "casino"];
const patterns = words.map((word) => new RegExp(`\\b${word}\\b`, "gi"));
const link = /https?:\/\/[^\s]+/g;
const weights = new Map([["word", 3], ["link", 2], ["shouting", 1]]);

export default function ({ in: message, data }) {
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
  const letters = [...text].filter((letter) => /[a-z]/i.test(letter));
  const capitals = letters.filter((letter) => letter === letter.toUpperCase());
  if (letters.length > 20 && capitals.length * 2 > letters.length) {
    flags.push("shouting");
    text = text.toLowerCase();
  }
  const score = flags.reduce((sum, flag) => sum + weights.get(flag), 0);
  if (score > 100) throw new Error(`too much: ${score}, ${data.user}`);
  return { out: { ...message, text, flags: [...new Set(flags)], score } };
}
