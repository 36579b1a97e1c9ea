// How the start page's model continues a line: what it reads, and the tokens that it draws.
import { chance, drawn, heated, nucleus } from "../strip/sampling.js";
import { softmax } from "../strip/network.js";

const [TEMPERATURE, TOP_P] = [0.7, 0.9];
const MOST = 80; // tokens

// A line with the beginning of the next one, indented as Python wants it.
export function opened(line) {
  const indentation = /^ */.exec(line)[0].length + (line.trimEnd().endsWith(":") ? 4 : 0);
  return `${line.trimEnd()}\n${" ".repeat(indentation)}`;
}

// Read a text from the start: how likely each token is that may follow it.
export function read(model, pairs, text) {
  model.restart();
  let logits;
  for (const id of [pairs.end, ...pairs.encode(text)]) logits = model.read(id);
  return logits;
}

// Write on: {text, bits} of each token, text null for the end; `seconds` is the time that the model took for it.
export function* write(model, pairs, logits, seed) {
  const random = chance(seed);
  for (let count = 0; count < MOST; count += 1) {
    const from = performance.now();
    const likely = heated(logits, TEMPERATURE);
    const id = drawn(likely, nucleus(likely, TOP_P), random());
    const bits = -Math.log2(softmax(logits)[id]);
    if (id !== pairs.end) logits = model.read(id);
    yield { text: id === pairs.end ? null : pairs.text(id), bits, seconds: (performance.now() - from) / 1000 };
    if (id === pairs.end) return;
  }
}

// What the model thinks of a guess after a text that it has read: the guess's tokens and its probability, where it stands
// among the first tokens that may come, and the likeliest of these.
export function weigh(model, pairs, text, guess) {
  const ids = pairs.encode(guess);
  let logits = read(model, pairs, text);
  const first = softmax(logits);
  const order = [...first.keys()].sort((a, b) => first[b] - first[a]);
  let probability = 1;
  ids.forEach((id, at) => {
    probability *= softmax(logits)[id];
    if (at < ids.length - 1) logits = model.read(id);
  });
  const best = { text: order[0] === pairs.end ? null : pairs.text(order[0]), probability: first[order[0]] };
  return { tokens: ids.length, probability, place: order.indexOf(ids[0]) + 1, best };
}
