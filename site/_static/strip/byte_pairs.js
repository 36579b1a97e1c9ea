// Lecture 10's tokenizer: text in chunks, chunks in bytes, and pairs of neighbours merged in the order of learning.

// The blanks of Python's regular expressions; those of JavaScript differ by a few.
const BLANK = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const CHUNK = new RegExp(` ?[A-Za-z_]+| ?[0-9]| ?[^${BLANK}A-Za-z_0-9]+|\\n *|[${BLANK}]+`, "gu");
const BYTES = 256;

export class BytePairs {
  constructor(merges) {
    this.merges = merges;
    this.pieces = Array.from({ length: BYTES }, (_, byte) => [byte]);
    for (const [left, right] of merges) this.pieces.push([...this.pieces[left], ...this.pieces[right]]);
    this.end = this.pieces.length; // stands behind each document
  }

  // The ids of a text, without the end.
  encode(text) {
    return (text.match(CHUNK) ?? []).flatMap((chunk) =>
      this.merges.reduce((ids, [left, right], rank) => {
        const found = [];
        for (let at = 0; at < ids.length; at += 1) {
          const both = ids[at] === left && ids[at + 1] === right;
          found.push(both ? BYTES + rank : ids[at]);
          if (both) at += 1;
        }
        return found;
      }, [...new TextEncoder().encode(chunk)]),
    );
  }

  // The text of one token; the end is nothing.
  text(id) {
    return id === this.end ? "" : new TextDecoder().decode(Uint8Array.from(this.pieces[id]));
  }
}
