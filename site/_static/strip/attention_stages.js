// The stages inside one head: query, key and value, scores, division, mask, softmax, and the mixture of values.
import { bars, choices, drawn, largest, make, map, number, prose, share, stripes, table, titled } from "./drawing.js";
import { predictLookAhead } from "./look_ahead.js";
import { row, softmax, strongest } from "./network.js";

const SIGNS = "Colour: positive. Grey: negative. The stronger, the larger.";

// One dot product, feature by feature: bars of the query, of the key, and of their products.
function features(view) {
  const { state, head, words, model } = view;
  const K = model.network.size;
  const T = words.length;
  const [q, k] = [row(head.query, state.i, K), row(head.key, state.j, K)];
  const products = q.map((each, f) => each * k[f]);
  const at = state.i * T + state.j;
  const strongest = products.reduce((best, each, f) => (Math.abs(each) > Math.abs(products[best]) ? f : best), 0);
  const band = (values, role, middle, title) => {
    const top = largest(values);
    return [
      drawn("text", { x: 0, y: middle - 25, class: "strip-small" }, title),
      drawn("rect", {
        x: strongest * 10 - 0.5,
        y: middle - 19,
        width: 11,
        height: 38,
        fill: "none",
        stroke: "var(--strip-accent)",
      }),
      drawn("line", { x1: 0, x2: K * 10, y1: middle, y2: middle, stroke: "var(--strip-ink)", "stroke-width": 0.5 }),
      ...[...values].map((value, f) => {
        const height = (18 * Math.abs(value)) / top;
        const bar = drawn("rect", {
          x: f * 10 + 1,
          width: 8,
          y: value < 0 ? middle : middle - height,
          height: Math.max(height, 0.5),
          fill: `var(--strip-${role})`,
        });
        bar.append(drawn("title", {}, `feature ${f}: ${number(q[f])} × ${number(k[f])} = ${number(products[f])}`));
        return bar;
      }),
    ];
  };
  const picture = drawn(
    "svg",
    {
      viewBox: `0 0 ${K * 10} 202`,
      class: "strip-features",
      role: "img",
      "aria-label": `The ${K} products of query and key, and their sum ${number(head.scores[at])}`,
    },
    ...band(q, "query", 40, `query of “${words[state.i]}”`),
    ...band(k, "key", 110, `key of “${words[state.j]}”`),
    ...band(products, "output", 180, "query × key, feature by feature"),
  );
  const blocked = view.options.causal && state.j > state.i;
  const told = [
    ["sum of the products", number(head.scores[at])],
    ["÷ √d_k", number(head.scaled[at])],
    ["after the mask", blocked ? "−10⁹" : number(head.masked[at])],
    ["weight", number(head.weights[at], 3)],
  ];
  return [
    make("p", { className: "strip-title" }, `“${words[state.i]}” looks at “${words[state.j]}”`),
    picture,
    prose(
      `Feature ${strongest} counts most: ${[q, k].map((each) => number(each[strongest])).join(" × ")} = ` +
        `${number(products[strongest])}.`,
    ),
    make("dl", {}, ...told.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value)))),
  ];
}

// A map beside the dot product of the cell that is chosen in it.
function mapAndFeatures(view, place, described) {
  const beside = make("div", { className: "strip-beside" });
  view.choose = (i, j) => {
    Object.assign(view.state, { i, j });
    beside.replaceChildren(...features(view), ...(described.more?.(view) ?? []));
  };
  place.append(
    make(
      "div",
      { className: "strip-pair" },
      make("div", {}, map(view, described), prose(described.legend ?? SIGNS)),
      beside,
    ),
  );
}

const projections = {
  id: "qkv",
  name: "Q, K, V",
  says: ({ model }) =>
    `The normed vector of each token (\`d_model\` = ${model.network.width} numbers) ` +
    `is multiplied by \`W_q\`, \`W_k\` and \`W_v\`; ` +
    `in this head it becomes a \`query\`, a \`key\` and a \`value\` of \`d_k\` = ${model.network.size} numbers each.`,
  small: ({ head, model }) => ({ values: head.query, columns: model.network.size, role: "query" }),
  carries: ({ head, state, model }) => ({
    values: row(head.query, state.token, model.network.size),
    role: "query",
    what: `its query: ${model.network.size} numbers that ask`,
  }),
  draw(view, place) {
    const { words, head, model } = view;
    const K = model.network.size;
    const tables = ["query", "key", "value"].map((part) => {
      const top = largest(head[part]);
      const rows = words.map((word, t) => [word, stripes(row(head[part], t, K), K, part, { top })]);
      return titled(`${part} (T, d_k) = (${words.length}, ${K})`, table([], rows));
    });
    place.append(make("div", { className: "strip-three" }, ...tables), prose(SIGNS));
  },
};

const scores = {
  id: "scores",
  name: "scores",
  says: () =>
    "Each score is the dot product of one token's `query` (row) with one token's `key` (column); " +
    "point at a cell to see its products.",
  small: ({ head, words }) => ({ values: head.scores, columns: words.length, role: "query" }),
  carries: ({ head, state, words }) => ({
    values: row(head.scores, state.token, words.length),
    role: "query",
    what: "its scores: one for each token",
  }),
  draw(view, place) {
    const { head, words } = view;
    mapAndFeatures(view, place, {
      values: head.scores,
      role: "query",
      tells: (i, j) => number(head.scores[i * words.length + j]),
    });
  },
};

const scaled = {
  id: "scale",
  name: "÷ √d_k",
  says: ({ model }) =>
    `Every score is divided by \`√d_k\` = √${model.network.size} = ${number(Math.sqrt(model.network.size))}; ` +
    "without the division the softmax would put more of a row's weight on its largest score.",
  small: ({ head, words }) => ({ values: head.scaled, columns: words.length, role: "query" }),
  carries: ({ head, state, words }) => ({
    values: row(head.scaled, state.token, words.length),
    role: "query",
    what: "its scores, divided by √d_k",
  }),
  draw(view, place) {
    const { head, words } = view;
    const T = words.length;
    mapAndFeatures(view, place, {
      values: head.scaled,
      role: "query",
      tells: (i, j) => number(head.scaled[i * T + j]),
      more: ({ state }) => {
        const [without, divided] = [head.scores, head.scaled].map((each) =>
          Math.max(...softmax(row(each, state.i, T))),
        );
        return [
          titled(
            `Largest weight in the row of “${words[state.i]}”`,
            bars(
              [
                ["with the division", divided, share(divided)],
                ["without", without, share(without)],
              ],
              "query",
              "largest weight of the row",
            ),
          ),
        ];
      },
    });
  },
};

const mask = {
  id: "mask",
  name: "mask",
  says: ({ options }) =>
    options.causal
      ? "The look-ahead mask sets the score of every later token to −10⁹, so that no `query` sees a later `key`; " +
        "a decoder is trained with it, and this encoder was not."
      : "An encoder's mask blocks only padding, and one sentence alone has none: every `query` sees every `key`.",
  small: ({ head, words }) => ({
    values: head.masked.map((each) => (each < -1e8 ? 0 : each)),
    columns: words.length,
    role: "query",
  }),
  carries: ({ head, state, words }) => ({
    values: row(head.masked, state.token, words.length).map((each) => (each < -1e8 ? 0 : each)),
    role: "query",
    what: "its scores after the mask",
  }),
  draw(view, place) {
    const { head, words, options } = view;
    place.append(
      choices(
        "Mask",
        [
          [false, "none needed"],
          [true, "look-ahead"],
        ],
        options.causal,
        (causal) => view.set({ causal }),
      ),
      ...(options.causal ? [predictLookAhead(view)] : []),
    );
    const blocked = (i, j) => options.causal && j > i;
    mapAndFeatures(view, place, {
      values: head.masked,
      role: "query",
      blocked,
      tells: (i, j) => (blocked(i, j) ? "blocked" : number(head.masked[i * words.length + j])),
    });
  },
};

const weights = {
  id: "softmax",
  name: "softmax",
  says: () =>
    "The softmax turns each row of scores into weights, which are positive and sum to 1: " +
    "how much the `query` of the row takes from the token of each `key`.",
  small: ({ head, words }) => ({ values: head.weights, columns: words.length, role: "query" }),
  carries: ({ head, state, words }) => ({
    values: row(head.weights, state.token, words.length),
    role: "query",
    what: `its weights: most on “${words[strongest(head, state.token, words.length)]}”`,
  }),
  draw(view, place) {
    const { head, words } = view;
    const T = words.length;
    mapAndFeatures(view, place, {
      values: head.weights,
      role: "query",
      blocked: (i, j) => view.options.causal && j > i,
      tells: (i, j) => number(head.weights[i * T + j], 3),
      legend: "The stronger the colour, the larger the weight.",
      more: ({ state }) => {
        const total = row(head.weights, state.i, T).reduce((all, each) => all + each, 0);
        return [prose(`The row of “${words[state.i]}” sums to ${number(total)}; equal weights: ${number(1 / T, 3)}.`)];
      },
    });
  },
};

const values = {
  id: "values",
  name: "values",
  says: ({ words, state }) =>
    `Each token's \`value\` is multiplied by its weight; the sum is what this head hands to “${words[state.token]}”.`,
  small: ({ head, model }) => ({ values: head.mixed, columns: model.network.size, role: "value" }),
  carries: ({ head, state, model }) => ({
    values: row(head.mixed, state.token, model.network.size),
    role: "value",
    what: `the mixture of ${model.network.size} numbers that this head hands to it`,
  }),
  draw(view, place) {
    const { head, words, state, model } = view;
    const K = model.network.size;
    const given = row(head.weights, state.token, words.length);
    const parts = words.map((_, j) => row(head.value, j, K).map((each) => each * given[j]));
    const mixed = row(head.mixed, state.token, K);
    const top = Math.max(...parts.map(largest), largest(mixed));
    const rows = words.map((word, j) => {
      const value = stripes(row(head.value, j, K), K, "value", { top: largest(head.value) });
      return [word, number(given[j], 3), value, stripes(parts[j], K, "value", { top })];
    });
    const total = number(given.reduce((all, each) => all + each, 0));
    const sum = ["sum", total, make("td"), stripes(mixed, K, "output", { top })];
    const titles = ["key", "weight", "value", "weight × value"];
    place.append(table(titles, [...rows, sum], "strip-vectors strip-with-sum"));
  },
};

export default [projections, scores, scaled, mask, weights, values];
