// What the language model wrote: each token with its bits as a shade, and a line on the one that is looked at.
import { make, number, prose } from "./drawing.js";

const DARKEST = 8; // bits
const STRONGEST = 45; // percent of the colour, so that the letters stay readable

export const KINDS = {
  lines: "line ends",
  first: "starts of words",
  rest: "rests of words",
  signs: "signs and digits",
};

// The kind of a token, from its text and from the text before it.
export function kindOf(text, before) {
  if (/^\s*$|^\n/.test(text)) return "lines";
  if (!/^ ?[A-Za-z_]/.test(text)) return "signs";
  return text.startsWith(" ") || !/[A-Za-z_]$/.test(before) ? "first" : "rest";
}

// A token with its blanks as signs; the end, which has no text, is null.
export function visible(text) {
  if (text === null) return "end";
  const blank = (spaces) => (spaces.length > 2 ? `␣×${spaces.length}` : "␣".repeat(spaces.length));
  return text
    .replaceAll("\n", "↵")
    .replace(/ +/g, blank)
    .replace(/\p{Cc}/gu, (each) => `\\x${each.codePointAt(0).toString(16).padStart(2, "0")}`);
}

export class Written {
  tokens = [];

  constructor() {
    this.text = make("pre", { className: "writer-text" });
    this.told = make("div", { className: "writer-told" });
    this.element = make("div", {}, this.text, this.told);
    for (const kind of ["mouseover", "focusin", "click"])
      this.text.addEventListener(kind, (event) => this.#look(this.#at(event)));
    this.text.addEventListener("keydown", (event) => this.#walk(event));
  }

  get count() {
    return this.tokens.length;
  }

  begin(prompt) {
    this.tokens = [];
    this.so = prompt; // the whole text so far
    this.list = make("span", { className: "writer-list" });
    this.text.replaceChildren(make("span", {}, prompt), this.list);
    this.told.replaceChildren(prose("Shade: the bits of a token, at temperature 1 and before the cut. Point at one."));
  }

  // Add a token; `text` is null for the end.
  add(text, bits) {
    const shown = text ?? "end";
    const strength = `${Math.round((STRONGEST * Math.min(bits, DARKEST)) / DARKEST)}%`;
    const className = text === null ? "writer-token writer-end" : "writer-token";
    const label = `${visible(text)}: ${number(bits)} bits`;
    const tabIndex = this.count ? -1 : 0;
    const span = make("span", { className, role: "option", label, tabIndex, style: { "--shade": strength } }, shown);
    span.setAttribute("aria-selected", "false");
    if (!this.count) {
      this.list.setAttribute("role", "listbox");
      this.list.setAttribute("aria-label", "Written tokens");
    }
    const kind = text === null ? null : kindOf(text, this.so);
    this.so += text ?? "";
    this.tokens.push({ span, bits, text, kind });
    this.list.append(span);
  }

  // Mean bits of all tokens.
  bits() {
    return this.tokens.reduce((all, each) => all + each.bits, 0) / this.count;
  }

  // Mean bits and number of the tokens of each kind that occurs.
  byKind() {
    return Object.keys(KINDS).flatMap((kind) => {
      const mine = this.tokens.filter((each) => each.kind === kind);
      return mine.length
        ? [{ kind, count: mine.length, bits: mine.reduce((all, each) => all + each.bits, 0) / mine.length }]
        : [];
    });
  }

  // Which token an event belongs to; −1 for none.
  #at(event) {
    return this.tokens.findIndex((each) => each.span === event.target);
  }

  #look(at) {
    if (at < 0) return;
    for (const { span } of this.tokens) {
      span.tabIndex = -1;
      span.setAttribute("aria-selected", "false");
    }
    const { span, bits, text } = this.tokens[at];
    span.tabIndex = 0;
    span.setAttribute("aria-selected", "true");
    this.told.replaceChildren(
      prose(`Token ${at + 1}, “${visible(text)}”: ${number(bits)} bits, a probability of ${number(2 ** -bits, 3)}.`),
    );
  }

  #walk(event) {
    const at = this.#at(event);
    const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: this.count - 1 }[event.key];
    if (at < 0 || !this.tokens[next]) return;
    event.preventDefault();
    this.tokens[next].span.focus();
  }
}
