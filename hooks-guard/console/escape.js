// Text that nobody vouches for, as it may be shown: what does not show, or makes the rest look
// like something else, is written out, as the service does it on a terminal.

const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Gr_Ext}]|(?! )\p{Zs}|[\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0]/u;
const SHORT = new Map([["\n", "\\n"], ["\t", "\\t"], ["\r", "\\r"], ["\0", "\\0"]]);

/** What one character is shown as. */
export function shown(character) {
  if (!HIDDEN.test(character)) return character;
  return SHORT.get(character) ?? `\\u{${character.codePointAt(0).toString(16)}}`;
}

/** Text on one line, with nothing hidden in it. */
export function escape(text) {
  return Array.from(String(text), shown).join("");
}
