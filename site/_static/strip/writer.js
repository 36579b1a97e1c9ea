// Lecture 10's language model writes in the page, token by token: what it could write next, and how sure it was.
import { BytePairs } from "./byte_pairs.js";
import { bars, make, number, prose, share, titled } from "./drawing.js";
import { LanguageModel } from "./language_model.js";
import { load } from "./loading.js";
import { softmax } from "./network.js";
import { chance, drawn, heated, nucleus } from "./sampling.js";
import { KINDS, visible, Written } from "./written.js";

const LONGEST = 256; // tokens: the length of the windows that the model was trained on
const PAUSE = 40; // milliseconds between two tokens
const [STAY, CUT] = [8, 4]; // tokens shown that the nucleus keeps, and that it cuts off
const FEWEST = 5; // tokens of a kind before its mean is compared

const button = (words, act, kind = "outline-primary") => {
  const made = make("button", { type: "button", className: `btn btn-${kind} btn-sm` }, words);
  made.addEventListener("click", act);
  return made;
};

class Writer {
  constructor(place, model, pairs, told) {
    Object.assign(this, { model, pairs });
    this.written = new Written();
    this.prompt = make("input", { type: "text", id: "writer-prompt", maxLength: 120, value: told.prompts[0] });
    Object.assign(this.prompt, { autocomplete: "off", spellcheck: false, className: "strip-code" });
    this.said = null;
    this.status = make("p", { role: "status", className: "writer-status" });
    this.next = make("div", { className: "writer-next" });
    this.sure = make("div", { className: "writer-sure" });
    this.one = button("Write one token", () => this.#stopAnd(() => this.step()), "primary");
    this.on = button("Write on", () => (this.timer ? this.stop() : this.go()));
    this.again = button("Start again", () => this.begin());
    place.replaceChildren(
      this.#form(told.prompts),
      this.#controls(),
      this.#asked(),
      make("div", { className: "strip-buttons" }, this.one, this.on, this.again),
      this.status,
      make("div", { className: "strip-pair writer-pair" }, this.written.element, make("div", {}, this.next, this.sure)),
      prose(
        `This is the lecture's model with ${told.arrays.table.shape[0]} tokens, trained once for this page: ` +
          `${(told.tokens / 1e6).toFixed(1)} million tokens of Python's standard library (PSF licence), ` +
          `${number(told["held-out bits a byte"])} bits a byte on held-out modules. ` +
          "Its parameters are rounded to 16 bits.",
        { className: "writer-about" },
      ),
    );
    this.begin();
  }

  #form(prompts) {
    const choice = make(
      "select",
      { className: "strip-code", label: "First lines of held-out modules" },
      make("option", { value: "" }, "or take one from a held-out module"),
      ...prompts.map((line) => make("option", { value: line }, line)),
    );
    choice.addEventListener("change", () => {
      if (!choice.value) return;
      this.prompt.value = choice.value;
      this.begin();
    });
    const form = make(
      "form",
      { className: "strip-form" },
      make("label", { htmlFor: "writer-prompt" }, "First line"),
      this.prompt,
      make("button", { className: "btn btn-outline-primary btn-sm" }, "Begin with it"),
      choice,
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.begin();
    });
    return form;
  }

  // Temperature and top-p change what is drawn next; the seed belongs to the whole text.
  #controls() {
    const slider = (words, id, range, value) => {
      const input = make("input", { type: "range", id, ...range });
      input.value = value;
      const output = make("output", { htmlFor: id }, Number(value).toFixed(2));
      input.addEventListener("input", () => {
        output.textContent = Number(input.value).toFixed(2);
        this.#showNext();
      });
      const label = make("label", { htmlFor: id }, words);
      return [input, make("div", { className: "writer-control" }, label, input, output)];
    };
    const seed = make("input", { type: "number", id: "writer-seed", min: 0, max: 9999, value: 1 });
    seed.addEventListener("change", () => this.begin());
    const [temperature, first] = slider("Temperature", "writer-temperature", { min: 0, max: 1.5, step: 0.05 }, 0.7);
    const [p, second] = slider("Top-p", "writer-p", { min: 0.05, max: 1, step: 0.05 }, 0.9);
    Object.assign(this, { temperature, p, seed });
    const third = make("div", { className: "writer-control" }, make("label", { htmlFor: "writer-seed" }, "Seed"), seed);
    return make("div", { className: "strip-controls" }, first, second, third);
  }

  #asked() {
    const buttons = Object.entries(KINDS).map(([kind, words]) =>
      button(words, (event) => {
        this.said = kind;
        buttons.forEach((each) => each.setAttribute("aria-pressed", String(each === event.target)));
        this.#showText();
        this.one.focus();
      }),
    );
    return make(
      "div",
      { className: "strip-asked" },
      make(
        "p",
        { className: "strip-title" },
        "Predict, then let it write: at which tokens is the model surest, so that they cost the fewest bits?",
      ),
      prose(
        "A line end and the indentation behind it are one token. A rare word is cut into pieces: a start, and rests.",
      ),
      make("div", { className: "strip-buttons" }, ...buttons),
    );
  }

  // Read the first line, and forget what was written.
  begin() {
    this.stop();
    this.model.restart();
    const ids = [this.pairs.end, ...this.pairs.encode(this.prompt.value)];
    ids.forEach((id) => (this.logits = this.model.read(id)));
    this.random = chance(Number(this.seed.value));
    this.written.begin(this.prompt.value);
    this.ended = "";
    this.#showNext();
    this.#showText();
  }

  // Draw one token, and read it.
  step() {
    const likely = heated(this.logits, Number(this.temperature.value));
    const id = drawn(likely, nucleus(likely, Number(this.p.value)), this.random());
    const bits = -Math.log2(softmax(this.logits)[id]);
    this.written.add(id === this.pairs.end ? null : this.pairs.text(id), bits);
    if (id === this.pairs.end) this.ended = "It wrote the end.";
    else if (this.model.position >= LONGEST) this.ended = `It stops at ${LONGEST} tokens, as long as its windows were.`;
    else this.logits = this.model.read(id);
    if (this.ended) this.stop();
    this.#showNext();
    this.#showText();
  }

  go() {
    this.on.textContent = "Stop";
    const next = () => {
      this.step();
      if (!this.ended) this.timer = setTimeout(next, PAUSE);
    };
    this.timer = setTimeout(next, 0);
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = null;
    this.on.textContent = "Write on";
    this.#showText();
  }

  #stopAnd(act) {
    this.stop();
    act();
  }

  // The row of probabilities of the next token, and where it is cut.
  #showNext() {
    if (this.ended) {
      this.next.replaceChildren();
      return;
    }
    const likely = heated(this.logits, Number(this.temperature.value));
    const { order, kept, mass } = nucleus(likely, Number(this.p.value));
    const name = (id) => visible(id === this.pairs.end ? null : this.pairs.text(id));
    const list = (ids, role, title, words) =>
      titled(title, bars(ids.map((id) => [name(id), likely[id] / likely[order[0]], words(likely[id])]), role, title));
    const parts = [
      list(
        order.slice(0, Math.min(kept, STAY)),
        "output",
        `Next token: ${kept} of ${order.length} stay, with ${share(mass)} of the probability`,
        (each) => `${share(each)}, drawn with ${share(each / mass)}`,
      ),
    ];
    if (kept > STAY) parts.push(prose(`… and ${kept - STAY} more that stay`));
    const cut = order.slice(kept, kept + CUT).filter((id) => likely[id] > 0);
    if (cut.length) parts.push(list(cut, "residual", "Cut off, the likeliest first", share));
    this.next.replaceChildren(...parts);
  }

  // What the buttons allow, and how sure the model was; announced only when it does not write.
  #showText() {
    const focus = document.activeElement;
    const writes = Boolean(this.timer);
    const may = this.said !== null && !this.ended;
    for (const each of [this.one, this.on]) each.disabled = !may;
    if (!may && (focus === this.one || focus === this.on)) this.again.focus();
    const { count } = this.written;
    if (!writes) {
      const bits = this.written.bits();
      const told = count ? `${count} tokens, ${number(bits)} bits each. ${this.ended}` : "";
      this.status.replaceChildren(this.said === null ? "It writes as soon as you have predicted." : told);
    }
    this.sure.replaceChildren(...(count && this.said ? this.#bitsByKind(writes) : []));
  }

  #bitsByKind(writes) {
    const found = this.written.byKind();
    const top = Math.max(...found.map(({ bits }) => bits), 1e-9);
    const title = "Bits of a token, by its kind (mean)";
    const rows = found.map(({ kind, bits, count }) => [KINDS[kind], bits / top, `${number(bits)} · ${count} tokens`]);
    const parts = [titled(title, bars(rows, "accent", title))];
    const enough = found.filter(({ count }) => count >= FEWEST);
    if (!writes && enough.length > 1) {
      const surest = enough.reduce((best, each) => (each.bits < best.bits ? each : best));
      const right = surest.kind === this.said;
      parts.push(
        prose(
          `You said: ${KINDS[this.said]}. In this text ${right ? "that is right" : `it was ${KINDS[surest.kind]}`}: ` +
            `${number(surest.bits)} bits each, in ${surest.count} tokens. ` +
            "Another seed or temperature can say otherwise.",
        ),
      );
    }
    return parts;
  }
}

export async function open(place, part, folder) {
  const told = await load(folder, "library_model");
  new Writer(place, new LanguageModel(told.arrays, told.heads), new BytePairs(told.merges), told);
}
