// The stages of a block: its heads side by side, the residual stream, the norm, the feed-forward network.
import { bars, drawn, largest, make, number, prose, stripes, table, titled } from "./drawing.js";
import { row, strongest } from "./network.js";

const length = (values) => Math.sqrt(values.reduce((all, each) => all + each ** 2, 0));

// Lines from each token that looks, on the left, to the tokens that it looks at; strong ones carry much weight.
function lines(view, head) {
  const { words, state, block } = view;
  const T = words.length;
  const [step, width, margin] = [18, 190, 66];
  const place = (t) => t * step + 13;
  const most = words[strongest(block.heads[head], state.token, T)];
  const strokes = [...block.heads[head].weights].flatMap((weight, at) => {
    const [i, j] = [Math.floor(at / T), at % T];
    if (weight < 0.03) return [];
    const mine = i === state.token;
    return [
      [
        mine,
        drawn("line", {
          x1: margin,
          y1: place(i) - 4,
          x2: width - margin,
          y2: place(j) - 4,
          stroke: `var(--strip-${mine ? "query" : "residual"})`,
          "stroke-width": mine ? 1 + 3 * weight : 1,
          "stroke-opacity": mine ? 0.75 + 0.25 * weight : weight * 0.6, // what is fainter is not seen
        }),
      ],
    ];
  });
  strokes.sort((a, b) => a[0] - b[0]);
  const label = (word, t, end) =>
    drawn(
      "text",
      {
        x: end ? width - margin + 5 : margin - 5,
        y: place(t),
        "text-anchor": end ? "start" : "end",
        class: !end && t === state.token ? "strip-small strip-chosen" : "strip-small",
      },
      word.length > 8 ? `${word.slice(0, 7)}…` : word,
    );
  return drawn(
    "svg",
    {
      viewBox: `0 0 ${width} ${T * step + 4}`,
      width,
      height: T * step + 4,
      role: "img",
      "aria-label": `Head ${head}: “${words[state.token]}” looks most at “${most}”`,
    },
    ...strokes.map(([, line]) => line),
    ...words.flatMap((word, t) => [label(word, t, false), label(word, t, true)]),
  );
}

const heads = {
  id: "heads",
  name: "heads",
  says: ({ model, block, words, state }) =>
    `Each of the ${block.heads.length} heads has weights of its own (blue: those of “${words[state.token]}”); ` +
    `their results, ${block.heads.length} × \`d_k\` = \`d_model\` = ${model.network.width} numbers, ` +
    "are joined and multiplied by `W_o`.",
  small: ({ block, words }) => {
    const T = words.length;
    const values = new Float64Array(2 * T * 2 * T); // four maps in a square
    block.heads.slice(0, 4).forEach((head, h) => {
      for (let i = 0; i < T; i += 1)
        values.set(row(head.weights, i, T), (Math.floor(h / 2) * T + i) * 2 * T + (h % 2) * T);
    });
    return { values, columns: 2 * T, role: "query" };
  },
  carries: ({ block, state, model }) => ({
    values: row(block.attended, state.token, model.network.width),
    role: "query",
    what: `what its ${block.heads.length} heads bring it, after W_o`,
  }),
  draw(view, place) {
    const { block, state, words } = view;
    const panels = block.heads.map((head, h) => {
      const name = `head ${h}: most on “${words[strongest(head, state.token, words.length)]}”`;
      const panel = titled(name, lines(view, h));
      panel.classList.toggle("strip-chosen", h === state.head);
      return panel;
    });
    place.append(make("div", { className: "strip-heads" }, ...panels));
  },
};

// Stripes of one token's vectors, with what each of them is and how long it is.
function vectors(view, rows) {
  const D = view.model.network.width;
  const parts = rows.map(([, values]) => row(values, view.state.token, D));
  const top = Math.max(...parts.map(largest)) / 2;
  const body = rows.map(([name, , role], at) => [
    name,
    stripes(parts[at], D, role, { top }),
    number(length(parts[at])),
  ]);
  return table(["", `the ${D} numbers of “${view.words[view.state.token]}”`, "length"], body);
}

const residual = {
  id: "residual",
  name: "residual stream",
  says: ({ model }) =>
    `Attention and the feed-forward network only add to a token's \`d_model\` = ${model.network.width} numbers: ` +
    "`y = x + attention`, then `z = y + FFN`.",
  small: ({ block, model }) => ({ values: block.between, columns: model.network.width, role: "output" }),
  carries: ({ block, state, model }) => ({
    values: row(block.between, state.token, model.network.width),
    role: "output",
    what: "its old vector plus what attention brought",
  }),
  draw(view, place) {
    const { block, run, model, words } = view;
    const D = model.network.width;
    const stream = [run.start, ...run.blocks.map((each) => each.after)];
    const lengths = stream.map((each) => length(row(each, view.state.token, D)));
    const top = Math.max(...lengths);
    const named = ["start", ...run.blocks.map((_, b) => `after block ${b}`)];
    place.append(
      vectors(view, [
        ["x", block.before, "output"],
        ["+ attention", block.attended, "query"],
        ["= y", block.between, "output"],
        ["+ FFN", block.fed, "value"],
        ["= z", block.after, "output"],
      ]),
      titled(
        `How long the vector of “${words[view.state.token]}” is`,
        bars(
          named.map((name, at) => [name, lengths[at] / top, number(lengths[at])]),
          "output",
          "length of the vector by block",
        ),
      ),
    );
  },
};

// A row of numbers as bars up and down, on one line.
function profile(values, role, label) {
  const top = largest(values);
  return drawn(
    "svg",
    {
      viewBox: `0 0 ${values.length * 4} 60`,
      class: "strip-profile",
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": label,
    },
    drawn("line", { x1: 0, x2: values.length * 4, y1: 30, y2: 30, stroke: "var(--strip-ink)", "stroke-width": 0.5 }),
    ...[...values].map((value, at) =>
      drawn("rect", {
        x: at * 4 + 0.5,
        width: 3,
        y: value < 0 ? 30 : 30 - (28 * value) / top,
        height: (28 * Math.abs(value)) / top,
        fill: `var(--strip-${role})`,
      }),
    ),
  );
}

function moments(values) {
  const mean = values.reduce((all, each) => all + each, 0) / values.length;
  return [mean, Math.sqrt(values.reduce((all, each) => all + (each - mean) ** 2, 0) / values.length)];
}

const norm = {
  id: "norm",
  name: "norm",
  says: () =>
    "Each sub-layer reads a normed copy of the token's vector: mean 0 and standard deviation 1 over its `d_model` " +
    "features, then times `gamma`, plus `beta`.",
  small: ({ block, model }) => ({ values: block.again, columns: model.network.width, role: "query" }),
  carries: ({ block, state, model }) => ({
    values: row(block.again, state.token, model.network.width),
    role: "query",
    what: "a normed copy, which the feed-forward network reads",
  }),
  draw(view, place) {
    const { block, state, words, model } = view;
    const D = model.network.width;
    const x = row(block.between, state.token, D);
    const [mean, spread] = moments(x);
    const between = x.map((each) => (each - mean) / spread);
    const steps = [
      ["y, from the residual stream", x, "output"],
      ["mean 0, standard deviation 1", between, "residual"],
      ["· gamma + beta: what the feed-forward network reads", row(block.again, state.token, D), "query"],
    ];
    const panels = steps.map(([name, values, role]) => {
      const [middle, width] = moments(values);
      return titled(
        name,
        profile(values, role, `${name}: ${D} bars`),
        prose(`mean ${number(middle)}, standard deviation ${number(width)}`),
      );
    });
    place.append(
      make("div", { className: "strip-steps" }, ...panels),
      prose(`“${words[state.token]}” alone decides its mean and its standard deviation: no other token is asked.`),
    );
  },
};

const feedForward = {
  id: "ffn",
  name: "feed-forward",
  says: ({ block, words, model }) =>
    `Each token alone is multiplied by \`W_1\` (${block.hidden.length / words.length} hidden units), ` +
    `goes through GELU, and \`W_2\` leads back to \`d_model\` = ${model.network.width} numbers, ` +
    "which are added to the stream.",
  small: ({ block, words }) => ({ values: block.hidden, columns: block.hidden.length / words.length, role: "value" }),
  carries: ({ block, state, model, run }) => ({
    values: row(block.after, state.token, model.network.width),
    role: "output",
    what:
      block === run.blocks.at(-1)
        ? "what leaves the last block"
        : `what block ${run.blocks.indexOf(block) + 1} reads, and does all this again`,
  }),
  draw(view, place) {
    const { block, state, words } = view;
    const F = block.hidden.length / words.length;
    const mine = row(block.hidden, state.token, F);
    const best = [...mine.keys()].sort((a, b) => mine[b] - mine[a]).slice(0, 5);
    const on = mine.filter((each) => each > 0.1).length;
    const units = best.map((unit) => {
      const others = words
        .map((_, t) => t)
        .sort((a, b) => block.hidden[b * F + unit] - block.hidden[a * F + unit])
        .slice(0, 3);
      return [
        `unit ${unit}`,
        mine[unit] / mine[best[0]],
        `${number(mine[unit])} · ${others.map((t) => words[t]).join(" ")}`,
      ];
    });
    place.append(
      make(
        "div",
        { className: "strip-pair" },
        titled(
          `The ${F} hidden units of “${words[state.token]}”; ${on} are above 0.1`,
          stripes(mine, 32, "value", { label: `${F} hidden units`, className: "strip-stripes strip-units" }),
        ),
        titled(
          "The strongest five, and the tokens at which each is largest",
          bars(units, "value", "the strongest hidden units"),
        ),
      ),
      vectors(view, [
        ["y", block.between, "output"],
        ["+ FFN", block.fed, "value"],
        ["= z", block.after, "output"],
      ]),
    );
  },
};

export default [heads, residual, norm, feedForward];
