// Make the mistake here: lines in a field. While the reader changes them, the page says what the check of the lab would say,
// and draws the map that they give. The cases of the check come when a reader begins; until then its words are recorded.
(() => {
  const { CannotJudge, Numbers, Raised } = globalThis.arrayLines;
  const { compute, judge, unpack } = globalThis.courseMistakes;
  const folder = new URL("mistakes/", document.currentScript.src).href;
  const WAIT = 250; // milliseconds after the last key
  const BLUE = [8, 81, 156]; // of a weight of 1, which fades to white
  const UNDERSTOOD =
    "Understood are lines `name = …` with arithmetic, comparisons, `@`, indices, `.T`, `.shape`, `.sum`, `.mean`, `.max`, " +
    "`.reshape`, `.transpose`, `.swapaxes`, the functions of the same names in `np`, `np.exp`, `np.sqrt`, `np.where`, " +
    "`np.einsum`, `np.tri`, `math.sqrt`, and `softmax` as SciPy has it.";

  function make(tag, properties = {}, ...children) {
    const { role, label, ...plain } = properties;
    const made = Object.assign(document.createElement(tag), plain);
    if (role) made.setAttribute("role", role);
    if (label) made.setAttribute("aria-label", label);
    made.append(...children);
    return made;
  }

  // Text whose parts between backticks are code.
  const prose = (text) => text.split("`").map((part, at) => (at % 2 ? make("code", {}, part) : part));

  const coming = {};

  // The cases of an exercise's check, fetched once.
  function load(exercise) {
    coming[exercise] ??= new Promise((done, failed) => {
      const script = make("script", { src: `${folder}${exercise}.js`, onerror: failed });
      script.onload = () => done(unpack(globalThis.courseLines[exercise]));
      document.head.append(script);
    });
    coming[exercise].catch(() => delete coming[exercise]);
    return coming[exercise];
  }

  class Editor {
    constructor(place) {
      const told = JSON.parse(place.querySelector("script").textContent);
      const box = place.querySelector(".mistake-verdict");
      Object.assign(this, { place, told });
      this.right = told.choices.find(({ id }) => !id)?.lines;
      const first = told.choices.find(({ id }) => id === place.dataset.first);
      const id = `lines-${told.exercise}`;
      this.field = make("textarea", { id, spellcheck: false, autocapitalize: "off", autocomplete: "off", maxLength: 2000, wrap: "soft" });
      this.field.setAttribute("aria-describedby", `${id}-given`);
      this.behind = make("pre", {});
      this.behind.setAttribute("aria-hidden", "true");
      this.chips = told.choices.map((choice) => {
        const chip = make("button", { type: "button", className: "mistake-chip" }, choice.label);
        chip.addEventListener("click", () => this.fill(choice.lines));
        return chip;
      });
      this.verdict = make("div", { className: box.className }, ...box.childNodes);
      this.map = make("div", { className: "mistake-map", role: "group", label: "What the lines give", tabIndex: 0 }); // scrolls
      place.replaceChildren(
        make("div", { className: "mistake-chips", role: "group", label: "Lines to begin with" }, make("span", {}, "Begin with"), ...this.chips),
        make(
          "div",
          { className: "mistake-grid" },
          make(
            "div",
            { className: "mistake-edit" },
            make("label", { htmlFor: id }, "Your lines"),
            make("div", { className: "mistake-code" }, this.behind, this.field),
            make("p", { className: "mistake-given", id: `${id}-given` }, "Given: ", ...prose(told.says), "."),
          ),
          this.verdict,
          ...(told.map ? [this.map] : []),
        ),
      );
      let timer;
      this.field.addEventListener("input", () => {
        clearTimeout(timer);
        this.#paint();
        timer = setTimeout(() => this.#tell(), WAIT);
      });
      for (const kind of ["pointerenter", "focusin"]) place.addEventListener(kind, () => load(told.exercise), { once: true });
      this.field.value = first.lines;
      this.#paint();
      if (told.map) this.#draw({ status: first.id ? "wrong" : "right" });
    }

    fill(lines) {
      this.field.value = lines;
      this.#paint();
      this.#tell();
    }

    // Behind the field: lines that are not those of the right answer, where the page has one.
    #paint(wrong) {
      const right = this.right?.split("\n");
      const lines = this.field.value.split("\n");
      this.behind.replaceChildren(
        ...lines.flatMap((line, at) => {
          const marked = at + 1 === wrong || (right && line.trim() && !right.includes(line.trim()));
          return [marked ? make("mark", {}, line) : line, "\n"];
        }),
      );
      this.chips.forEach((chip, at) => chip.setAttribute("aria-pressed", String(this.told.choices[at].lines === this.field.value)));
    }

    async #tell() {
      const lines = this.field.value;
      let cases;
      try {
        cases = await load(this.told.exercise);
      } catch {
        this.verdict.textContent = "The cases of the check could not be loaded. Try again when you are connected.";
        return;
      }
      if (lines !== this.field.value) return; // the reader has gone on
      Object.assign(this.told, cases);
      this.verdict.className = "mistake-verdict";
      this.verdict.setAttribute("role", "status");
      const found = judge(this.told, lines);
      this.place.dataset.status = found.status;
      this.place.dataset.mistake = found.id ?? "";
      this.#paint(found.status === "unclear" ? found.line : undefined);
      this.verdict.replaceChildren(...this.#words(found));
      if (this.told.map) this.#draw(found);
    }

    #words(found) {
      const where = found.line ? `Line ${found.line}: ` : "";
      if (found.status === "unclear")
        return [
          make("p", { className: "mistake-head" }, "This page cannot judge that"),
          make("p", {}, ...prose(`${where}${found.message}.`)),
          make("p", { className: "mistake-small" }, ...prose(UNDERSTOOD)),
        ];
      const passed = found.groups.filter((group) => group.passed).length;
      const list = make(
        "ul",
        { className: "mistake-checks" },
        ...found.groups.map((group) => make("li", { className: group.passed ? "is-right" : "is-wrong" }, make("span", {}, group.passed ? "✓ " : "✗ "), group.title)),
      );
      const sign = make("span", {}, found.status === "right" ? "✓" : "✗");
      const head = make("p", { className: "mistake-head" }, sign, ` ${passed} of ${found.groups.length} checks pass`);
      if (found.status === "right")
        return [
          head,
          make("p", { className: "mistake-name" }, this.field.value === this.right ? "These lines are right. Change one." : "Right, in your own writing."),
          ...(found.reduced ? [make("p", { className: "mistake-small" }, `Tried with a ${this.told.optional} only: these lines need one.`)] : []),
          list,
        ];
      const section = this.told.sections[found.id];
      return [
        head,
        make(
          "p",
          { className: "mistake-name" },
          ...(found.id ? [make("b", {}, "It looks like this: "), ...prose(this.told.sentences[found.id])] : ["Wrong, and no mistake that the check knows gives these numbers."]),
        ),
        ...(section ? [make("p", {}, make("b", {}, "Read again: "), make("a", { href: `${this.place.dataset.root}/${section.page}` }, section.title))] : []),
        make("p", { className: "mistake-case" }, make("b", {}, `${found.group.title}: `), ...prose(`tried ${found.description}. ${where}${found.message}`), ...(found.id ? [] : prose(` ${found.advice}`))),
        list,
      ];
    }

    // The weights of the page's sentence; null where the lines give none.
    #weigh(lines, times) {
      const { words, width, q, k, v, mask } = this.told.map;
      const array = (rows, kind = "f") => new Numbers([rows.length, rows[0].length], rows.flat(), kind);
      const larger = q.map((row) => row.map((each) => each * times));
      const inputs = { q: array(larger), k: array(k), v: array(v), mask: array(mask, "b") };
      try {
        const { weights } = compute(this.told, globalThis.arrayLines.read(lines), inputs);
        const fits = weights instanceof Numbers && String(weights.shape) === `${words.length},${words.length}` && width > 0;
        return fits ? weights.data : null;
      } catch (error) {
        if (error instanceof CannotJudge || error instanceof Raised) return null;
        throw error;
      }
    }

    #draw(found) {
      this.map.classList.toggle("is-old", found.status === "unclear");
      if (found.status === "unclear" && this.map.firstChild) return;
      const { words, large, width } = this.told.map;
      let [times, weights, right] = [1, this.#weigh(this.field.value, 1), this.#weigh(this.right, 1)];
      const same = weights && [...weights].every((each, at) => Math.abs(each - right[at]) < 1e-9);
      if (found.status === "wrong" && same) [times, weights, right] = [large, this.#weigh(this.field.value, large), this.#weigh(this.right, large)];
      if (!weights) {
        this.map.replaceChildren(make("p", { className: "mistake-small" }, "These lines give no map of weights."));
        return;
      }
      const size = words.length;
      const at = (i, j) => weights[i * size + j];
      const add = (cells) => cells.reduce((all, each) => all + each, 0);
      const every = [...words.keys()];
      const rows = every.map((i) => add(every.map((j) => at(i, j))));
      const columns = every.map((j) => add(every.map((i) => at(i, j))));
      const isOne = (each) => Math.abs(each - 1) < 1e-5;
      const ahead = (i, j) => j > i && Math.abs(at(i, j)) > 0.005;
      const byColumns = columns.every(isOne) && !rows.every(isOne);
      const much = (i, j) => at(i, j) > right[i * size + j] + 0.2;
      const odd = every.some((i) => every.some((j) => ahead(i, j) || !Number.isFinite(at(i, j)))) || !rows.every(isOne);
      const marked = (i, j) => !Number.isFinite(at(i, j)) || ahead(i, j) || (!odd && much(i, j));
      const number = (value, seen, weight) => {
        const cell = make("td", { className: seen ? "is-seen" : "" }, Number.isFinite(value) ? value.toFixed(2).replace("-", "−") : "NaN");
        if (weight && Number.isFinite(value)) {
          const part = 0.5 * Math.max(0, Math.min(1, value));
          cell.style.backgroundColor = `rgb(${BLUE.map((each) => Math.round(255 - part * (255 - each)))})`;
        }
        if (weight) cell.classList.add("is-weight");
        return cell;
      };
      const head = (word, scope) => make("th", { scope }, word);
      this.map.replaceChildren(
        make(
          "table",
          {},
          make("caption", {}, "Weights, query by key"),
          make("thead", {}, make("tr", {}, make("td"), ...words.map((word) => head(word, "col")), head("sum", "col"))),
          make("tbody", {}, ...every.map((i) => make("tr", {}, head(words[i], "row"), ...every.map((j) => number(at(i, j), marked(i, j), true)), number(rows[i], !isOne(rows[i]))))),
          make("tfoot", {}, make("tr", {}, head("sum", "row"), ...columns.map((each) => number(each, byColumns)), make("td"))),
        ),
        make("p", { className: "mistake-small" }, this.#where({ times, rows, columns, byColumns, every, ahead, at, much, isOne })),
        make("p", { className: "mistake-small" }, `Random queries and keys of width ${width}, a causal mask.`),
      );
    }

    // Where in the map it shows, in a sentence.
    #where({ times, rows, byColumns, every, ahead, at, much, isOne }) {
      const { words } = this.told.map;
      const larger = times > 1 ? `Only where scores are large, so the queries are ${times} times as large here: ` : "";
      const bad = rows.filter((each) => !Number.isFinite(each)).length;
      if (bad) return `${larger}no numbers in ${bad} of the ${rows.length} rows.`;
      const [least, most] = [Math.min(...rows), Math.max(...rows)].map((each) => each.toFixed(2));
      if (byColumns) return `${larger}Every column sums to 1; rows sum to between ${least} and ${most}.`;
      const looking = every.filter((i) => every.some((j) => ahead(i, j))).map((i) => `“${words[i]}”`);
      if (looking.length) return `${larger}${looking.join(", ")} ${looking.length > 1 ? "look" : "looks"} ahead, at words that the mask blocks.`;
      if (!rows.every(isOne)) return `${larger}Rows do not sum to 1 but to between ${least} and ${most}.`;
      const sharp = every.flatMap((i) => every.filter((j) => much(i, j)).map((j) => [i, j]));
      if (sharp.length) {
        const [i, j] = sharp[0];
        return `${larger}Rows sum to 1, but “${words[i]}” gives “${words[j]}” ${at(i, j).toFixed(2)}: much more than it should.`;
      }
      return "Every row sums to 1: a word shares its weight among the words up to itself.";
    }
  }

  document.querySelectorAll(".course-mistake[data-exercise]").forEach((each) => new Editor(each));
})();
