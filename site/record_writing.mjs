// Records what the start page shows before its model is loaded: node site/record_writing.mjs > site/written.json
import { readFileSync } from "node:fs";

const folder = new URL("_static/strip/", import.meta.url);
globalThis.fetch = async (address) => {
  const bytes = readFileSync(address);
  const copy = () => bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  return { ok: true, json: async () => JSON.parse(bytes), arrayBuffer: async () => copy() };
};
const [{ BytePairs }, { LanguageModel }, { load }, { opened, read, write }] = await Promise.all(
  ["strip/byte_pairs", "strip/language_model", "strip/loading", "start/writing"].map(
    (each) => import(new URL(`_static/${each}.js`, import.meta.url)),
  ),
);
const { arrays, heads, merges } = await load(folder, "library_model");
const [line, seed] = ["def read_lines(path):", 4];
const model = new LanguageModel(arrays, heads);
const pairs = new BytePairs(merges);
const text = opened(line);
const tokens = [...write(model, pairs, read(model, pairs, text), seed)].map(({ text, bits }) => [text, Number(bits.toFixed(3))]);
console.log(JSON.stringify({ line, seed, text, tokens }, null, 1));
