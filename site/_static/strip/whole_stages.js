// The two ends of the strip: how a sentence becomes vectors, and what the model guesses where a word is hidden.
import { bars, choices, largest, make, number, prose, share, stripes, table, titled } from "./drawing.js";
import { row } from "./network.js";

const distance = (a, b) => Math.sqrt(a.reduce((all, each, i) => all + (each - b[i]) ** 2, 0));

// The places of a word that stands twice in the sentence; null if none does.
function twins({ ids }) {
  for (let first = 1; first < ids.length - 1; first += 1) {
    const second = ids.indexOf(ids[first], first + 1);
    if (second > 0) return [first, second];
  }
  return null;
}

const tokens = {
  id: "tokens",
  name: "tokens",
  says: ({ model, options }) =>
    `Each word piece is looked up in a table, a row of \`d_model\` = ${model.network.width} numbers; ` +
    (options.positions
      ? "the row of its position is added, and the sum is normed."
      : "the row of its position is left out, and the row is normed."),
  small: ({ run, model }) => ({ values: run.start, columns: model.network.width, role: "output" }),
  carries: ({ run, state, model, options }) => ({
    values: row(run.start, state.token, model.network.width),
    role: "output",
    what: `its ${model.network.width} numbers: the row of its piece${options.positions ? " and of its position" : ""}`,
  }),
  draw(view, place) {
    const { run, words, model, options, ids } = view;
    const D = model.network.width;
    const top = largest(run.start) / 2;
    const rows = words.map((word, t) => [word, String(ids[t]), stripes(row(run.start, t, D), D, "output", { top })]);
    place.append(
      ...(view.part.includes("tokens") ? [] : [view.positions()]),
      table(["piece", "row", `its ${D} numbers at the start`], rows),
      ...alike(view),
    );
  },
};

// How far two equal words are apart, with positions and without.
function alike(view) {
  const { ids, words, model, options } = view;
  const pair = twins(view);
  if (!pair)
    return [prose("Type a sentence in which a word occurs twice: without positions both become the same vector.")];
  const D = model.network.width;
  const [withThem, without] = [true, false].map((positions) => {
    const run = model.network.run(ids, { ...options, positions });
    return [run.start, ...run.blocks.map((each) => each.after)].map((each) =>
      distance(...pair.map((t) => row(each, t, D))),
    );
  });
  const top = Math.max(...withThem, ...without);
  const named = ["start", ...model.blocks.map((b) => `after block ${b}`)];
  const list = (lengths, role, label) =>
    titled(
      label,
      bars(
        named.map((name, at) => [name, lengths[at] / top, number(lengths[at])]),
        role,
        label,
      ),
    );
  return [
    prose(`“${words[pair[0]]}” stands at positions ${pair[0]} and ${pair[1]}. How far apart are its two vectors?`, {
      className: "strip-title",
    }),
    make(
      "div",
      { className: "strip-pair" },
      list(withThem, "query", "with positions"),
      list(without, "accent", options.causal ? "without positions, look-ahead mask" : "without positions"),
    ),
  ];
}

// The run in which the word is hidden; `off`: heads that are switched off.
function hiddenRun({ model, ids, options, hidden }, off = []) {
  const masked = ids.map((id, t) => (t === hidden ? model.cutter.mask : id));
  return model.network.run(masked, { ...options, off });
}

const guess = (view, off) => view.model.network.guess(hiddenRun(view, off), view.hidden);
const firstGuess = (view) => view.model.pieces[best(guess(view), 1)[0]];

const best = (likely, count) => [...likely.keys()].sort((a, b) => likely[b] - likely[a]).slice(0, count);

// Five guesses; a bar is as long as the track for the share `most`.
function guesses({ model, ids, hidden: place }, likely, title, most = Math.max(...likely)) {
  const hidden = ids[place];
  const top = best(likely, 5);
  return titled(
    title,
    bars(
      top.map((piece) => [model.pieces[piece], likely[piece] / most, share(likely[piece]), piece === hidden]),
      "output",
      title,
    ),
  );
}

function rankOf({ ids, hidden, words }, likely) {
  const own = likely[ids[hidden]];
  const rank = 1 + likely.reduce((all, each) => all + (each > own), 0);
  return prose(`The hidden word, “${words[hidden]}”, is guess ${rank} of ${likely.length}: ${share(own)}.`);
}

// What each head does to the first guess when it alone is off: blocks as rows, heads as columns; `press` shows one.
function everyHead(view, likely, press) {
  const { model, words, hidden } = view;
  const [first] = best(likely, 1);
  const rows = model.blocks.map((b) => {
    const cells = model.heads.map((h) => {
      const now = guess(view, [`${b}.${h}`]);
      const [instead] = best(now, 1);
      const told = instead === first ? share(now[first]) : `${share(now[first])}, first: ${model.pieces[instead]}`;
      const button = make("button", { type: "button", label: `Block ${b}, head ${h} off: ${told}` }, told);
      button.addEventListener("click", () => press(b, h));
      return make("td", { className: instead === first ? "" : "strip-special" }, button);
    });
    return [`block ${b}`, ...cells];
  });
  const titles = ["", ...model.heads.map((h) => `head ${h} off`)];
  const changed = rows.flat().filter((each) => each.className === "strip-special").length;
  return [
    titled(
      `Each head off alone: the share of “${model.pieces[first]}” (${share(likely[first])} with all heads)`,
      table(titles, rows, "strip-table"),
    ),
    prose(
      `The first guess for “${words[hidden]}” changes with ${changed} of ${rows.length * model.heads.length}` +
        " heads; press one to see its guesses. This says what depends on a head, not what the head does.",
    ),
  ];
}

const whole = {
  id: "guess",
  name: "guess",
  says: () =>
    "The last vector at `[MASK]` goes through one more layer and is multiplied with the row of every word piece in " +
    "the table; a softmax turns the products into guesses, whose shares sum to 1.",
  small: ({ run, model }) => ({ values: run.final, columns: model.network.width, role: "output" }),
  carries: (view) => ({
    values: row(hiddenRun(view).final, view.hidden, view.model.network.width),
    role: "output",
    what: `hidden as [MASK], it became this: first guess “${firstGuess(view)}”`,
  }),
  draw(view, place) {
    const { model, state, words, hidden } = view;
    const likely = guess(view);
    const name = `head ${state.head} of block ${state.block}`;
    const title = `“${words[hidden]}” is hidden: five guesses, all heads`;
    const all = (most) => [guesses(view, likely, title, most), rankOf(view, likely)];
    const withAll = make("div", {}, ...all());
    const shown = make("div", { className: "strip-pair" }, withAll);
    const told = make("div", { role: "status" });
    const answers = [
      [true, "It changes"],
      [false, "It stays"],
    ].map(([changes, said]) => {
      const button = make("button", { type: "button", className: "btn btn-outline-primary btn-sm" }, said);
      button.addEventListener("click", () => answer(changes));
      return button;
    });
    const asked = make(
      "div",
      { className: "strip-asked" },
      make(
        "p",
        { className: "strip-title" },
        `Predict: ${name}, chosen above, is switched off, with zeros in place of its result. ` +
          "What happens to the first guess?",
      ),
      make("div", { className: "strip-buttons" }, ...answers),
      told,
    );
    shown.append(asked);
    const after = make("div");
    place.append(shown, after);

    function answer(changes) {
      const now = guess(view, [`${state.block}.${state.head}`]);
      const [[before], [instead]] = [best(likely, 1), best(now, 1)];
      const does = before !== instead;
      const [old, other] = [before, instead].map((piece) => `“${model.pieces[piece]}”`);
      const happens = does ? `changes from ${old} to ${other}` : `stays ${old}`;
      const said = prose(
        `You said: it ${changes ? "changes" : "stays"}. ` +
          `${does === changes ? "That is right: it" : "It"} ${happens} ` +
          `(${share(likely[before])} before, ${share(now[before])} now).`,
      );
      const compare = (b, h) => {
        const without = guess(view, [`${b}.${h}`]);
        const most = Math.max(...likely, ...without); // the bars of both lists have one scale
        withAll.replaceChildren(...all(most));
        told.replaceChildren(said, guesses(view, without, `without head ${h} of block ${b}`, most));
      };
      compare(state.block, state.head);
      answers.forEach((button) => button.setAttribute("aria-pressed", String(button === answers[changes ? 0 : 1])));
      after.replaceChildren(...everyHead(view, likely, compare));
    }
  },
};

export { tokens, whole };
