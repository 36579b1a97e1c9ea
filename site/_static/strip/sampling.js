// How lecture 10 draws a token: temperature first, then the nucleus, then chance, which a seed repeats.
import { softmax } from "./network.js";

// How likely each token is (V,) at a temperature; at 0 the likeliest one is certain.
export function heated(logits, temperature) {
  if (temperature > 0) return softmax(logits.map((each) => each / temperature));
  const best = logits.indexOf(Math.max(...logits));
  return logits.map((_, token) => Number(token === best));
}

// All tokens, the likeliest first; how many of them the nucleus keeps, and the probability of those.
export function nucleus(likely, p) {
  const order = [...likely.keys()].sort((a, b) => likely[b] - likely[a]);
  let [kept, mass] = [0, 0];
  while (kept < order.length && mass < p) {
    mass += likely[order[kept]];
    kept += 1;
  }
  return { order, kept, mass };
}

// The token of the nucleus to which a number in [0, 1) belongs.
export function drawn(likely, { order, kept, mass }, number) {
  let reached = 0;
  return order.slice(0, kept).find((token) => (reached += likely[token] / mass) > number) ?? order[kept - 1];
}

// Numbers in [0, 1) that a seed repeats (the generator Mulberry32).
export function chance(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
