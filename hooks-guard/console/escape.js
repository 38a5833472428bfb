// Escapes untrusted text for display: invisible and deceptive characters are written as escapes, as
// the service does on a terminal.

const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Gr_Ext}]|(?! )\p{Zs}|[\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0]/u;
const SHORT = new Map([["\n", "\\n"], ["\t", "\\t"], ["\r", "\\r"], ["\0", "\\0"]]);

/** Returns the display form of a character. */
export function shown(character) {
  if (!HIDDEN.test(character)) return character;
  return SHORT.get(character) ?? `\\u{${character.codePointAt(0).toString(16)}}`;
}

/** Returns a text on one line, without hidden characters. */
export function escape(text) {
  return Array.from(String(text), shown).join("");
}
