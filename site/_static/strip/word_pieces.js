// BERT's tokenizer: lower case, no accents, words and marks apart, then the longest known pieces from the left.

const CONTROL = /\p{Cc}|\p{Cf}/gu;
const IGNORED = /\p{Default_Ignorable_Code_Point}/gu;
const ACCENT = /\p{Mn}/gu;
// A mark, or a character of Chinese script, is a word of its own. Blanks are those of ASCII; others belong to a word.
const HAN = [
  "4E00}-\\u{9FFF",
  "3400}-\\u{4DBF",
  "20000}-\\u{2A6DF",
  "2A700}-\\u{2CEAF",
  "F900}-\\u{FAFF",
  "2F800}-\\u{2FA1F",
]
  .map((each) => `\\u{${each}}`)
  .join("");
const ALONE = `!-/:-@\\[-\`{-~\\p{P}${HAN}`;
const WORDS = new RegExp(`[${ALONE}]|[^ \\t\\n\\f\\r${ALONE}]+`, "gu");
const MOST_BYTES = 100; // of a word; a longer one is unknown

// Unicode's NFKC case folding: compatible characters are one, as … and three dots; what is never shown is left out. The
// way over capitals writes ß as ss and the final ς as σ; a dotless ı has no capital of its own.
function folded(text) {
  const fold = (each) => (each === "ı" ? each : each.toLowerCase().toUpperCase().toLowerCase());
  return [...text.normalize("NFKC")].map(fold).join("").replace(IGNORED, "").normalize("NFKC");
}

export class WordPieces {
  constructor(pieces) {
    this.pieces = pieces;
    this.numbers = new Map(pieces.map((piece, number) => [piece, number]));
    [this.unknown, this.first, this.last, this.mask] = ["[UNK]", "[CLS]", "[SEP]", "[MASK]"].map((each) =>
      this.numbers.get(each),
    );
  }

  // The numbers of a text's pieces, without [CLS] and [SEP].
  cut(text) {
    const plain = folded(text).normalize("NFD").replace(ACCENT, "").replace(CONTROL, " ");
    return (plain.match(WORDS) ?? []).flatMap((word) => this.#ofWord(word));
  }

  #ofWord(word) {
    if (new TextEncoder().encode(word).length > MOST_BYTES) return [this.unknown];
    const characters = [...word];
    const found = [];
    for (let start = 0; start < characters.length;) {
      let end = characters.length;
      let number;
      for (; end > start; end -= 1) {
        number = this.numbers.get((start ? "##" : "") + characters.slice(start, end).join(""));
        if (number !== undefined) break;
      }
      if (number === undefined) return [this.unknown];
      found.push(number);
      start = end;
    }
    return found;
  }
}
