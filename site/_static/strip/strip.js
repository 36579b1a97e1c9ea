// One sentence through the course's small BERT, from tokens to a guess: the row of stages, and what is chosen.
import attention from "./attention_stages.js";
import block from "./block_stages.js";
import { choices, make, prose, stripes } from "./drawing.js";
import { load } from "./loading.js";
import { Network } from "./network.js";
import { tokens, whole } from "./whole_stages.js";
import { WordPieces } from "./word_pieces.js";

const PLACE = "course-strip"; // where the browser keeps the sentence, for every page
const FIRST = "The film was bad, but the music was good.";
const MOST = 20; // pieces, [CLS] and [SEP] included: more of them cannot be read in a map
const STAGES = [tokens, ...attention, ...block, whole];
// The stages of each lecture; the first one is open. The lecture on masking begins with later tokens hidden.
const PARTS = {
  attention: ["scores", "qkv", "scale", "mask", "softmax", "values"],
  heads: ["heads"],
  block: ["residual", "norm", "ffn"],
  positions: ["tokens"],
  masking: ["mask", "softmax"],
  whole: ["guess"],
};

function kept() {
  try {
    return localStorage.getItem(PLACE) || FIRST;
  } catch {
    return FIRST;
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
    this.state = { stage: STAGES.find((each) => each.id === this.part[0]), block: 0, head: 0, i: 1, j: 1, hidden: 1 };
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
      if (this.read(this.input.value)) keep(this.input.value);
    });
    this.tabs = STAGES.map((stage) => this.#tab(stage));
    this.row.append(...this.tabs);
    this.row.addEventListener("keydown", (event) => this.#walk(event));
    place.replaceChildren(form, this.told, this.controls, this.row, this.panel);
    if (!this.read(this.input.value)) this.read(FIRST);
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
    tab.addEventListener("click", () => this.show({ stage }));
    return tab;
  }

  #walk(event) {
    const at = this.tabs.indexOf(document.activeElement);
    const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: STAGES.length - 1 }[event.key];
    if (at < 0 || !STAGES[next]) return;
    event.preventDefault();
    this.tabs[next].focus();
    this.show({ stage: STAGES[next] });
  }

  // Take a sentence; false, and a sentence that says why, where it has no piece.
  read(sentence) {
    const pieces = this.model.cutter.cut(sentence);
    if (!pieces.length) {
      this.told.textContent = "This has no word: type one or more.";
      return false;
    }
    const cut = pieces.slice(0, MOST - 2);
    this.ids = [this.model.cutter.first, ...cut, this.model.cutter.last];
    this.words = this.ids.map((id) => this.model.pieces[id]);
    this.long = pieces.length > cut.length ? `Only the first ${cut.length} of ${pieces.length} pieces are read. ` : "";
    const longest = cut.reduce((best, id, at) => (this.#weightOf(id) > this.#weightOf(cut[best]) ? at : best), 0);
    Object.assign(this.state, { hidden: longest + 1, i: longest + 1, j: longest + 1 });
    this.set({});
    return true;
  }

  // The longest whole word is hidden and looked at first.
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

  // The words of the sentence as a choice of the one that is looked at.
  tokens(title) {
    return choices(
      title,
      this.words.map((word, t) => [t, word]),
      this.state.i,
      (i) => this.show({ i }),
    );
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
