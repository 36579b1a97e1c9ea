// The course's small BERT: a pre-norm encoder with learned positions, and the head that guesses a hidden word.
//
// T tokens, D numbers each (d_model), H heads of K (d_k), F hidden units. Arrays are flat: row after row.

const EPSILON = 1e-6;

// Rows (T, n) times a matrix (n, m), plus a bias (m): (T, m).
export function project(x, rows, matrix, bias) {
  const n = x.length / rows;
  const m = matrix.length / n;
  const y = new Float64Array(rows * m);
  for (let t = 0; t < rows; t += 1) {
    if (bias) y.set(bias, t * m);
    const sums = row(y, t, m);
    for (let i = 0; i < n; i += 1) {
      const factor = x[t * n + i];
      for (let j = 0, at = i * m; j < m; j += 1, at += 1) sums[j] += factor * matrix[at];
    }
  }
  return y;
}

// tanh approximation of GELU (Hendrycks and Gimpel, 2016).
const gelu = (x) => (x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)))) / 2;

const sum = (x, y) => x.map((each, i) => each + y[i]);

// Row `i` of an array whose rows have `size` numbers.
export const row = (values, i, size) => values.subarray(i * size, (i + 1) * size);

// The place that token `i` of a head looks at most, among T.
export function strongest(head, i, T) {
  const weights = row(head.weights, i, T);
  return weights.indexOf(Math.max(...weights));
}

// A row of numbers that are positive and sum to 1.
export function softmax(scores) {
  const largest = Math.max(...scores);
  const powers = scores.map((each) => Math.exp(each - largest));
  const total = powers.reduce((all, each) => all + each, 0);
  return powers.map((each) => each / total);
}

export class Network {
  constructor(arrays) {
    this.arrays = arrays;
    [, this.width] = arrays["words/embeddings"].shape; // D
    [, this.heads, this.size] = arrays["attention_0/query/kernel"].shape; // H, K
    this.blocks = Object.keys(arrays).filter((name) => /^norm_1_\d+\/gamma$/.test(name)).length;
  }

  #values(name) {
    return this.arrays[name].values;
  }

  #normed(x, name) {
    const D = this.width;
    const gamma = this.#values(`${name}/gamma`);
    const beta = this.#values(`${name}/beta`);
    const y = new Float64Array(x.length);
    for (let start = 0; start < x.length; start += D) {
      const vector = x.subarray(start, start + D);
      const mean = vector.reduce((all, each) => all + each, 0) / D;
      const spread = Math.sqrt(vector.reduce((all, each) => all + (each - mean) ** 2, 0) / D + EPSILON);
      for (let i = 0; i < D; i += 1) y[start + i] = ((vector[i] - mean) / spread) * gamma[i] + beta[i];
    }
    return y;
  }

  // Everything that happens to the pieces `ids`. `positions`: whether each learns where it stands; `causal`: whether
  // later tokens are hidden; `off`: "block.head" of heads whose part is replaced by zeros.
  run(ids, { positions = true, causal = false, off = [] } = {}) {
    const T = ids.length;
    const D = this.width;
    const words = this.#values("words/embeddings");
    const first = this.#values("segments/embeddings");
    const table = this.#values("positions/table");
    const sums = new Float64Array(T * D);
    for (let at = 0; at < sums.length; at += 1) {
      const i = at % D;
      sums[at] = words[ids[(at - i) / D] * D + i] + first[i] + (positions ? table[at] : 0);
    }
    const start = this.#normed(sums, "embedding_norm");
    const blocks = [];
    for (let x = start; blocks.length < this.blocks; x = blocks.at(-1).after)
      blocks.push(this.#block(x, T, blocks.length, causal, off));
    return { ids, length: T, start, blocks, final: this.#normed(blocks.at(-1).after, "final_norm") };
  }

  // One block: y = x + attention(norm(x)), z = y + feed-forward(norm(y)).
  #block(x, T, block, causal, off) {
    const name = `attention_${block}`;
    const normed = this.#normed(x, `norm_1_${block}`);
    const [query, key, value] = ["query", "key", "value"].map((part) =>
      project(normed, T, this.#values(`${name}/${part}/kernel`), this.#values(`${name}/${part}/bias`)),
    );
    const heads = Array.from({ length: this.heads }, (_, head) => this.#head(query, key, value, T, head, causal));
    const joined = new Float64Array(T * this.width); // (T, H·K)
    heads.forEach(({ mixed }, head) => {
      if (off.includes(`${block}.${head}`)) return;
      for (let t = 0; t < T; t += 1) joined.set(row(mixed, t, this.size), t * this.width + head * this.size);
    });
    const attended = project(
      joined,
      T,
      this.#values(`${name}/attention_output/kernel`),
      this.#values(`${name}/attention_output/bias`),
    );
    const between = sum(x, attended);
    const again = this.#normed(between, `norm_2_${block}`);
    const hidden = project(again, T, this.#values(`hidden_${block}/kernel`), this.#values(`hidden_${block}/bias`)).map(
      gelu,
    );
    const fed = project(hidden, T, this.#values(`output_${block}/kernel`), this.#values(`output_${block}/bias`));
    return { before: x, normed, heads, joined, attended, between, again, hidden, fed, after: sum(between, fed) };
  }

  // One head: its columns of query, key and value (T, K), scores and weights (T, T), and the mixture (T, K).
  #head(query, key, value, T, head, causal) {
    const K = this.size;
    const [q, k, v] = [query, key, value].map((x) => {
      const columns = new Float64Array(T * K);
      for (let t = 0; t < T; t += 1) columns.set(row(row(x, t, this.width), head, K), t * K);
      return columns;
    });
    const scores = new Float64Array(T * T);
    for (let i = 0; i < T; i += 1) {
      for (let j = 0; j < T; j += 1) for (let f = 0; f < K; f += 1) scores[i * T + j] += q[i * K + f] * k[j * K + f];
    }
    const scaled = scores.map((each) => each / Math.sqrt(K));
    const masked = scaled.map((each, at) => (causal && at % T > Math.floor(at / T) ? -1e9 : each));
    const weights = new Float64Array(T * T);
    for (let i = 0; i < T; i += 1) weights.set(softmax(row(masked, i, T)), i * T);
    return { query: q, key: k, value: v, scores, scaled, masked, weights, mixed: project(weights, T, v) };
  }

  // How likely each piece is at place `t` of a run: (V,), positive, sum 1.
  guess(run, t) {
    const D = this.width;
    const dense = project(
      row(run.final, t, D),
      1,
      this.#values("mlm_dense/kernel"),
      this.#values("mlm_dense/bias"),
    ).map(gelu);
    const normed = this.#normed(dense, "mlm_norm");
    const words = this.#values("words/embeddings");
    const logits = Float64Array.from(this.#values("mlm_logits/bias"));
    for (let piece = 0, at = 0; piece < logits.length; piece += 1)
      for (let i = 0; i < D; i += 1, at += 1) logits[piece] += normed[i] * words[at];
    return softmax(logits);
  }
}
