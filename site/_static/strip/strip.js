// One sentence through the course's small BERT, from tokens to a guess: the row of stages, and what is chosen.
import attention from "./attention_stages.js";
import block from "./block_stages.js";
import { choices, make, prose, stripes } from "./drawing.js";
import { Journey } from "./journey.js";
import { load } from "./loading.js";
import { Network } from "./network.js";
import { tokens, whole } from "./whole_stages.js";
import { WordPieces } from "./word_pieces.js";

const PLACE = "course-strip"; // where the browser keeps the sentence, for every page
// Sentences for the two kinds of text that it has read, each with a word that it guesses, one that it does not, and a head
// that looks at what the guess needs: the token before (block 0, head 2), or a person (block 2, head 3).
const READY = [
  { sentence: "The New York Yankees beat the Boston Red Sox.", word: "york", block: 0, head: 2 },
  { sentence: "Stocks fell on Wall Street as oil prices rose.", word: "street", block: 0, head: 2 },
  { sentence: "This is the worst movie I have ever seen.", word: "seen", block: 0, head: 2 },
  { sentence: "The man lost his wife and the woman lost her husband.", word: "her", block: 2, head: 3 },
  { sentence: "The special effects were good, but the story was bad.", word: "effects", block: 0, head: 2 },
  { sentence: "A brown dog is running after the black dog.", word: "dog", block: 0, head: 2 },
];
const MOST = 20; // pieces, [CLS] and [SEP] included: more of them cannot be read in a map
const STAGES = [tokens, ...attention, ...block, whole];
// The stages of each lecture; the first one is open. The lecture on masking begins with later tokens hidden.
const PARTS = {
  attention: ["softmax", "qkv", "scores", "scale", "mask", "values"],
  heads: ["heads"],
  block: ["residual", "norm", "ffn"],
  positions: ["softmax", "tokens"],
  masking: ["mask", "softmax"],
  whole: ["guess"],
};

function kept() {
  try {
    return localStorage.getItem(PLACE) || READY[0].sentence;
  } catch {
    return READY[0].sentence;
  }
}

function keep(sentence) {
  try {
    localStorage.setItem(PLACE, sentence);
  } catch {} // the strip works without
}

class Strip {
  constructor(place, part, model) {
    this.place = place;
    this.model = model;
    this.part = PARTS[part];
    this.options = { positions: true, causal: part === "masking" };
    this.state = { stage: STAGES.find((each) => each.id === this.part[0]), block: 0, head: 2, token: 1, i: 1, j: 1 };
    this.input = make("input", {
      type: "text",
      maxLength: 200,
      value: kept(),
      id: "strip-sentence",
      autocomplete: "off",
    });
    this.told = make("p", { className: "strip-note", role: "status" });
    this.controls = make("div", { className: "strip-controls" });
    this.row = make("div", { className: "strip-row", role: "tablist", label: "Stages, from left to right" });
    this.panel = make("div", { className: "strip-panel", role: "tabpanel", id: "strip-panel", tabIndex: 0 });
    const form = make(
      "form",
      { className: "strip-form" },
      make("label", { htmlFor: "strip-sentence" }, "Your sentence"),
      this.input,
      make("button", { className: "btn btn-primary btn-sm" }, "Read it"),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.journey.pause();
      if (this.read(this.input.value)) keep(this.input.value);
    });
    this.input.addEventListener("input", () => this.input.removeAttribute("aria-invalid"));
    const ready = make("select", { id: "strip-ready" }, make("option", { value: "" }, "choose one …"));
    READY.forEach(({ sentence }, at) => ready.append(make("option", { value: at }, sentence)));
    ready.addEventListener("change", () => {
      this.journey.pause();
      if (ready.value) this.#open(READY[ready.value]);
      ready.value = "";
    });
    const about = make(
      "p",
      { className: "strip-about" },
      make("label", { htmlFor: "strip-ready" }, "Ready sentences"),
      " ",
      ready,
      " This BERT is small and has read film reviews and news, nothing else: it guesses “York”, and knows no dogs.",
    );
    this.journey = new Journey(this, STAGES);
    this.tabs = STAGES.map((stage) => this.#tab(stage));
    this.row.append(...this.tabs);
    this.row.addEventListener("keydown", (event) => this.#walk(event));
    place.replaceChildren(form, about, this.told, this.controls, this.row, this.journey.element, this.panel);
    const known = READY.find(({ sentence }) => sentence === this.input.value);
    if (known || !this.read(this.input.value)) this.#open(known ?? READY[0]);
    // Stripes are painted in the colours of the page's theme.
    new MutationObserver(() => this.show({})).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  // Take a ready sentence, at the word and the head that make it worth a look.
  #open({ sentence, word, block, head }) {
    this.input.value = sentence;
    Object.assign(this.state, { block, head });
    this.read(sentence);
    this.follow(this.words.indexOf(word));
    keep(sentence);
  }

  // The token that makes the journey, and whose word is hidden at its end; the place that it looks at most is shown.
  follow(token) {
    this.state.token = token;
    this.#look();
    this.show({});
  }

  #look() {
    const { state, run, ids } = this;
    const T = ids.length;
    const { weights } = run.blocks[state.block].heads[state.head];
    const mine = weights.slice(state.token * T, (state.token + 1) * T);
    Object.assign(state, { i: state.token, j: mine.indexOf(Math.max(...mine)) });
  }

  // The place of the word that is hidden for a guess: the token's, or the next word's where it is no word.
  get hidden() {
    return Math.min(Math.max(this.state.token, 1), this.ids.length - 2);
  }

  #tab(stage) {
    const mine = this.part.includes(stage.id);
    const tab = make(
      "button",
      {
        type: "button",
        role: "tab",
        id: `strip-tab-${stage.id}`,
        className: mine ? "strip-tab strip-mine" : "strip-tab",
      },
      make("span", { className: "strip-small-picture" }),
      make("span", {}, stage.name),
    );
    tab.setAttribute("aria-controls", "strip-panel");
    tab.addEventListener("click", () => {
      this.journey.pause();
      this.go(stage);
    });
    return tab;
  }

  #walk(event) {
    const at = this.tabs.indexOf(document.activeElement);
    const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: STAGES.length - 1 }[event.key];
    if (at < 0 || !STAGES[next]) return;
    event.preventDefault();
    this.tabs[next].focus();
    this.journey.pause();
    this.go(STAGES[next]);
  }

  // Open another stage, where the token looks at what it looks at most.
  go(stage) {
    this.#look();
    this.show({ stage });
  }

  // Take a sentence; false, and a sentence that says why, where it has no piece.
  read(sentence) {
    const pieces = this.model.cutter.cut(sentence);
    this.input.setAttribute("aria-invalid", String(!pieces.length));
    if (!pieces.length) {
      const still = this.words ? ` Below is still “${this.words.slice(1, -1).join(" ")}”.` : "";
      this.told.textContent = `This has no word: type one or more.${still}`;
      return false;
    }
    const cut = pieces.slice(0, MOST - 2);
    this.ids = [this.model.cutter.first, ...cut, this.model.cutter.last];
    this.words = this.ids.map((id) => this.model.pieces[id]);
    this.long = pieces.length > cut.length ? `Only the first ${cut.length} of ${pieces.length} pieces are read. ` : "";
    const longest = cut.reduce((best, id, at) => (this.#weightOf(id) > this.#weightOf(cut[best]) ? at : best), 0);
    this.run = this.model.network.run(this.ids, this.options);
    this.follow(longest + 1);
    return true;
  }

  // The longest whole word makes the journey first.
  #weightOf(id) {
    const piece = this.model.pieces[id];
    return /^\p{L}+$/u.test(piece) ? piece.length : 0;
  }

  // Change what the network does, and run it.
  set(options) {
    Object.assign(this.options, options);
    this.run = this.model.network.run(this.ids, this.options);
    this.show({});
  }

  // Change what is looked at, and draw it. What had the focus has it again.
  show(state) {
    const focus = document.activeElement;
    const again = this.place.contains(focus) && focus.name ? `[name="${focus.name}"]:checked` : "";
    Object.assign(this.state, state);
    this.block = this.run.blocks[this.state.block];
    this.head = this.block.heads[this.state.head];
    this.#note();
    const { model } = this;
    this.controls.replaceChildren(
      choices(
        "Block",
        model.blocks.map((b) => [b, String(b)]),
        this.state.block,
        (chosen) => this.show({ block: chosen }),
      ),
      choices(
        "Head",
        model.heads.map((h) => [h, String(h)]),
        this.state.head,
        (head) => this.show({ head }),
      ),
      choices(
        "Token",
        this.words.map((word, t) => [t, word]),
        this.state.token,
        (token) => this.follow(token),
      ),
      ...(this.part.includes("tokens") ? [this.positions()] : []),
    );
    STAGES.forEach((stage, at) => {
      const open = stage === this.state.stage;
      this.tabs[at].setAttribute("aria-selected", String(open));
      this.tabs[at].tabIndex = open ? 0 : -1;
      const { values, columns, role } = stage.small(this);
      this.tabs[at].firstChild.replaceChildren(stripes(values, columns, role, { className: "" }));
    });
    this.panel.setAttribute("aria-labelledby", `strip-tab-${this.state.stage.id}`);
    this.panel.replaceChildren(prose(this.state.stage.says(this), { className: "strip-says" }));
    this.state.stage.draw(this, this.panel);
    this.journey.show();
    if (again) this.place.querySelector(again)?.focus();
  }

  #note() {
    const changed = [];
    if (!this.options.positions) changed.push("Positions are removed.");
    if (this.options.causal) changed.push("Later tokens are hidden.");
    this.told.replaceChildren(this.long + changed.join(" "));
    if (!changed.length) return;
    const back = make("button", { type: "button", className: "btn btn-outline-primary btn-sm" }, "As trained");
    back.addEventListener("click", () => {
      this.set({ positions: true, causal: false });
      this.panel.focus();
    });
    this.told.append(" ", back);
  }

  // Whether each token learns where it stands.
  positions() {
    const offered = [
      [true, "added, as trained"],
      [false, "removed"],
    ];
    return choices("Positions", offered, this.options.positions, (positions) => this.set({ positions }));
  }
}

export async function open(place, part, folder) {
  const { arrays, pieces } = await load(folder, "small_bert");
  const network = new Network(arrays);
  const count = (size) => Array.from({ length: size }, (_, at) => at);
  new Strip(place, part, {
    network,
    pieces,
    cutter: new WordPieces(pieces),
    blocks: count(network.blocks),
    heads: count(network.heads),
  });
}
