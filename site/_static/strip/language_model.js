// Lecture 10's language model: a causal decoder that reads one token a step and keeps its keys and values.
//
// D numbers a token (d_model), H heads of K (d_k), V tokens. Arrays are flat: row after row.
import { project, row, softmax } from "./network.js";

const EPSILON = 1e-6;

const silu = (x) => x / (1 + Math.exp(-x));

const added = (x, y) => x.map((each, i) => each + y[i]);

// RMS norm: each token over the root of its mean square, times a gain.
function normed(x, gain) {
  const size = Math.sqrt(x.reduce((all, each) => all + each * each, 0) / x.length + EPSILON);
  return x.map((each, i) => (each / size) * gain[i]);
}

export class LanguageModel {
  constructor(arrays, heads) {
    this.arrays = arrays;
    [this.tokens, this.width] = arrays.table.shape; // V, D
    this.heads = heads; // H
    this.size = this.width / heads; // K
    this.blocks = Object.keys(arrays).filter((name) => /^block_\d+\/norm1$/.test(name)).length;
    this.restart();
  }

  // Forget what was read.
  restart() {
    this.kept = Array.from({ length: this.blocks }, () => ({ keys: [], values: [] }));
    this.position = 0;
  }

  // Read a token: the logits (V,) of the one that follows.
  read(id) {
    const { values: table } = this.arrays.table;
    let x = Float64Array.from(row(table, id, this.width), (each) => each * Math.sqrt(this.width));
    for (let block = 0; block < this.blocks; block += 1) {
      const part = (name) => this.arrays[`block_${block}/${name}`].values;
      x = added(x, this.#attended(normed(x, part("norm1")), part, this.kept[block]));
      const again = normed(x, part("norm2"));
      const [gate, up] = ["w_gate", "w_up"].map((name) => project(again, 1, part(name)));
      x = added(
        x,
        project(
          gate.map((each, i) => silu(each) * up[i]),
          1,
          part("w_down"),
        ),
      );
    }
    this.position += 1;
    const last = normed(x, this.arrays.norm.values);
    const logits = new Float64Array(this.tokens);
    for (let token = 0, at = 0; token < this.tokens; token += 1)
      for (let i = 0; i < this.width; i += 1, at += 1) logits[token] += last[i] * table[at];
    return logits;
  }

  // What attention adds to the newest token: its query against every key that is kept, its own included.
  #attended(x, part, { keys, values }) {
    const K = this.size;
    const [query, key, value] = ["w_q", "w_k", "w_v"].map((name) => project(x, 1, part(name)));
    keys.push(this.#turned(key));
    values.push(value);
    const q = this.#turned(query);
    const joined = new Float64Array(this.width);
    for (let head = 0; head < this.heads; head += 1) {
      const mine = row(q, head, K);
      const scores = keys.map((each) => row(each, head, K).reduce((all, k, i) => all + k * mine[i], 0) / Math.sqrt(K));
      softmax(scores).forEach((weight, t) => {
        for (let i = head * K; i < (head + 1) * K; i += 1) joined[i] += weight * values[t][i];
      });
    }
    return project(joined, 1, part("w_o"));
  }

  // Rotary positions: each pair of a head's numbers, turned by an angle, which the library computes in float32.
  #turned(x) {
    const y = new Float64Array(x.length);
    for (let at = 0; at < x.length; at += 2) {
      const wave = Math.fround(10000 ** Math.fround((at % this.size) / this.size));
      const angle = Math.fround(this.position / wave);
      const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
      y[at] = x[at] * cos - x[at + 1] * sin;
      y[at + 1] = x[at] * sin + x[at + 1] * cos;
    }
    return y;
  }
}
