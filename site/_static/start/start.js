// The start page's model: it comes when a reader wants it to write, answers the guess of what comes next, and writes.
const folder = new URL("../strip/", import.meta.url);
const PAUSE = 30; // milliseconds between two tokens, at least
const place = document.querySelector(".start-writer");
const [form, told, status] = [".start-form", ".start-text", ".start-said"].map((each) => place.querySelector(each));
const [line, guess, button] = ["#start-line", "#start-guess", ".start-form button"].map((each) => place.querySelector(each));
let coming;
let seed = Number(place.dataset.seed);
let stopped = () => {};

const ORDINALS = ["", "first", "second", "third"];
const percent = (value) => (value < 0.001 ? "less than 0.1 %" : `${(100 * value).toFixed(value < 0.1 ? 1 : 0)} %`);

// The model and what it is shown with, fetched once.
function load() {
  coming ??= Promise.all(
    ["byte_pairs", "language_model", "loading", "written"].map((each) => import(new URL(`${each}.js`, folder))).concat(import(new URL("writing.js", import.meta.url))),
  ).then(async ([{ BytePairs }, { LanguageModel }, { load }, { Written, visible }, writing]) => {
    const { arrays, heads, merges } = await load(folder, "library_model");
    return { model: new LanguageModel(arrays, heads), pairs: new BytePairs(merges), Written, visible, writing };
  });
  coming.catch(() => (coming = undefined));
  return coming;
}

function answer({ model, pairs, visible, writing }, text) {
  const said = guess.value.trim();
  if (!said) return "";
  const { tokens, probability, place: rank, best } = writing.weigh(model, pairs, text, said);
  const which = tokens > 1 ? `in ${tokens} tokens` : rank === 1 ? "" : `its ${ORDINALS[rank] ?? `${rank}th`} choice`;
  const own = `You said “${said}”. The model gives that ${percent(probability)}${which ? `, ${which}` : ""}. `;
  return rank === 1 && tokens === 1 ? `${own}It is its first choice, too. ` : `${own}Its first choice is “${visible(best.text)}” with ${percent(best.probability)}. `;
}

async function write(loaded) {
  const { model, pairs, Written, writing } = loaded;
  const text = writing.opened(line.value);
  const answered = answer(loaded, text);
  const written = new Written();
  written.begin(text);
  told.replaceChildren(written.element);
  let [seconds, on] = [0, true];
  stopped = () => (on = false);
  status.textContent = answered;
  for (const token of writing.write(model, pairs, writing.read(model, pairs, text), seed)) {
    if (!on) return;
    written.add(token.text, token.bits);
    seconds += token.seconds;
    await new Promise((next) => setTimeout(next, Math.max(PAUSE - 1000 * token.seconds, 0)));
  }
  if (!on) return;
  const speed = Math.round(written.count / seconds);
  status.textContent = `${answered}It wrote ${written.count} tokens, ${speed} tokens a second in this browser.`;
  place.dataset.written = String(seed);
  seed += 1;
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  stopped();
  button.disabled = true;
  if (!coming) status.textContent = "The model is loading …";
  try {
    const loaded = await load();
    button.disabled = false;
    button.textContent = "Write again";
    await write(loaded);
  } catch (error) {
    button.disabled = false;
    status.textContent =
      location.protocol === "file:"
        ? "A page that is opened as a file may not read the model. Run “python -m http.server” in the site's folder."
        : "The model could not be loaded. Try again when you are connected.";
    if (location.protocol !== "file:") console.warn(error);
  }
});
line.addEventListener("input", () => (seed = 1));
