// What the look-ahead mask takes away: a prediction, the weight that lay on later tokens, and what a guess loses.
import { bars, make, prose, share, titled } from "./drawing.js";

const ROWS = [
  ["first", "The row of the first token"],
  ["last", "The row of the last token"],
  ["none", "No row"],
];

// For each query, its weight on later tokens when no mask hides them.
function later(view) {
  const { model, ids, options, state } = view;
  const free = model.network.run(ids, { ...options, causal: false });
  const { weights } = free.blocks[state.block].heads[state.head];
  const T = ids.length;
  return ids.map((_, i) => weights.slice(i * T + i + 1, (i + 1) * T).reduce((all, each) => all + each, 0));
}

// The hidden word as the network guesses it from the whole sentence, and from the words before it.
function guessed({ model, ids, options, hidden, words }) {
  const masked = ids.map((id, t) => (t === hidden ? model.cutter.mask : id));
  const found = [
    ["whole sentence", false],
    ["look-ahead mask", true],
  ].map(([name, causal]) => {
    const likely = model.network.guess(model.network.run(masked, { ...options, causal }), hidden);
    const first = model.pieces[likely.indexOf(Math.max(...likely))];
    return [name, likely[ids[hidden]], first];
  });
  const top = Math.max(...found.map(([, own]) => own));
  const rows = found.map(([name, own, first]) => [name, own / top, `${share(own)}, first guess “${first}”`]);
  const title = `How likely is “${words[hidden]}”, when it is hidden?`;
  return titled(title, bars(rows, "output", title));
}

function answer(view, said) {
  const { words, state } = view;
  const moved = later(view);
  const title = `Block ${state.block}, head ${state.head}: weight on later tokens without the mask`;
  return [
    prose(
      `You said: ${ROWS.find(([value]) => value === said)[1].toLowerCase()}. ` +
        `${said === "last" ? "That is right: " : "It is the row of the last token: "}` +
        `no token comes after “${words.at(-1)}”, so the mask takes nothing from it. “${words[0]}” sees only itself. ` +
        "In later blocks every row can change, because the vectors that it reads have changed.",
    ),
    make(
      "div",
      { className: "strip-pair" },
      titled(
        title,
        bars(
          words.map((word, i) => [word, moved[i], share(moved[i])]),
          "query",
          title,
        ),
      ),
      make(
        "div",
        {},
        guessed(view),
        prose(
          "This encoder learned to guess from both sides. With the mask it does what it was never trained for: its " +
            "guesses show what it misses, not how well a decoder writes. " +
            "A decoder has the mask from its first step of training on.",
        ),
      ),
    ),
  ];
}

// The question; once it is answered, the answer stays while heads and blocks are changed.
export function predictLookAhead(view) {
  const told = make("div", { role: "status" });
  const say = (said) => {
    view.state.saidLookAhead = said;
    told.replaceChildren(...answer(view, said));
    buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(ROWS[at][0] === said)));
  };
  const buttons = ROWS.map(([value, words]) => {
    const button = make("button", { type: "button", className: "btn btn-outline-primary btn-sm" }, words);
    button.addEventListener("click", () => say(value));
    return button;
  });
  if (view.state.saidLookAhead) say(view.state.saidLookAhead);
  return make(
    "div",
    { className: "strip-asked" },
    make(
      "p",
      { className: "strip-title" },
      "Predict: which row of attention weights in block 0 stays as it was without the look-ahead mask?",
    ),
    make("div", { className: "strip-buttons" }, ...buttons),
    told,
  );
}
