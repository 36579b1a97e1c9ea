// Predictions: each one becomes a field. What the reader says opens the answer, and is kept in this browser only.
(() => {
  const PLACE = `course-predictions:${location.pathname}`; // one page, one place
  const LETTER = /^\s*\(([a-z])\)/;

  // What was said on this page, by question. A browser that refuses to store it forgets it with the page.
  function read() {
    try {
      return JSON.parse(localStorage.getItem(PLACE)) ?? {};
    } catch {
      return {};
    }
  }

  function write(said) {
    try {
      localStorage.setItem(PLACE, JSON.stringify(said));
    } catch {} // the page works without
  }

  function make(tag, properties, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  // The words of an element; formulas are left out, because they change when they are typeset.
  function words(element) {
    const copy = element.cloneNode(true);
    copy.querySelectorAll(".math").forEach((each) => each.remove());
    return copy.textContent.replace(/\s+/g, " ").trim();
  }

  // What stands between a question and its folded answer, and that answer; null if there is none.
  function follows(question) {
    const between = [];
    for (let each = question.nextElementSibling; each; each = each.nextElementSibling) {
      if (each.matches("details") && each.querySelector("summary").textContent.trim() === "Answer") {
        return { between, answer: each };
      }
      if (each.matches("section, details, .cell")) return null;
      between.push(each);
    }
    return null;
  }

  // A field in the place of a question. `changed` is called when the reader has said something.
  function field(question, { between, answer }, changed) {
    const section = question.closest("section");
    const key = [section.id, ...[question, ...between].map(words)].join("\n");
    const options = between.find((each) => each.matches("ul") && [...each.children].every((item) => LETTER.test(item.textContent)));
    const right = options && LETTER.exec(answer.querySelector("p")?.textContent)?.[1];
    const button = make("button", { className: "btn btn-outline-primary", textContent: "Keep this and open the answer" });
    const result = make("p", { className: "course-said" });
    result.setAttribute("role", "status");
    const fieldset = make("fieldset", {}, make("legend", {}, ...question.childNodes), ...between);
    const form = make("form", { className: "course-predict", autocomplete: "off" }, fieldset, result);
    let inputs;
    if (options) {
      inputs = [...options.children].map((item) => {
        const input = make("input", { type: "radio", name: "said", value: LETTER.exec(item.textContent)[1], required: true });
        item.replaceChildren(make("label", {}, input, make("span", {}, ...(item.querySelector("p") ?? item).childNodes)));
        return input;
      });
      options.className = "course-options";
    } else {
      const input = make("textarea", { name: "said", rows: 2, maxLength: 500, required: true });
      inputs = [input];
      fieldset.append(make("label", {}, "Your prediction", input));
    }
    fieldset.append(button);
    question.remove();
    answer.before(form);

    const self = { section, said: undefined, right };
    self.show = (said) => {
      const chosen = options ? inputs.find((each) => each.value === said) : inputs[0];
      self.said = typeof said === "string" && chosen ? said : undefined;
      const settled = self.said !== undefined;
      for (const each of inputs) {
        if (options) each.checked = settled && each === chosen;
        else each.value = self.said ?? "";
        each.disabled = Boolean(options) && settled && each !== chosen; // the chosen one keeps the focus
        each.readOnly = settled;
      }
      if (settled && document.activeElement === button) chosen.focus();
      button.hidden = Boolean(options) || settled;
      answer.open = settled;
      result.className = "course-said" + (settled && right ? (said === right ? " course-right" : " course-wrong") : "");
      if (!settled) result.textContent = "";
      else if (!options) result.textContent = `You said: “${said}” Compare it with the answer.`;
      else if (!right) result.textContent = `You said (${said}).`;
      else result.textContent = said === right ? `You said (${said}). That is right.` : `You said (${said}). The answer is (${right}).`;
    };
    self.show(read()[key]);

    // Arrow keys pass from option to option; the answer waits until the reader stays at one.
    let passing = false;
    form.addEventListener("keydown", (event) => {
      passing = event.key.startsWith("Arrow");
      if (event.key === " " && event.target.type === "radio" && event.target.checked) form.requestSubmit();
    });
    form.addEventListener("keyup", () => { passing = false; });
    form.addEventListener("change", () => {
      if (!options) return;
      if (passing) button.hidden = false;
      else form.requestSubmit();
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const said = new FormData(form).get("said")?.trim();
      if (!said) return;
      write({ ...read(), [key]: said });
      self.show(said);
      changed();
    });
    return self;
  }

  // A list of links to the sections of some predictions, each section once.
  function links(title, fields) {
    const items = [...new Set(fields.map((each) => each.section))].map((section) => {
      const heading = section.querySelector("h1, h2, h3, h4").cloneNode(true);
      heading.querySelector(".headerlink")?.remove();
      return make("li", {}, make("a", { href: `#${section.id}` }, ...heading.childNodes));
    });
    return items.length ? [make("p", { textContent: title }), make("ul", {}, ...items)] : [];
  }

  document.addEventListener("DOMContentLoaded", () => {
    const fields = [];
    const told = make("div", {});
    const forget = make("button", { type: "button", className: "btn btn-outline-primary", textContent: "Forget my answers on this page" });
    const end = make("section", { className: "course-predicted", hidden: true }, make("h2", { textContent: "Your predictions" }), told, forget);

    function tell() {
      const made = fields.filter((each) => each.said !== undefined);
      const judged = made.filter((each) => each.right);
      const wrong = judged.filter((each) => each.said !== each.right);
      end.hidden &&= !made.length;
      told.replaceChildren(
        ...(made.length ? [] : [make("p", { textContent: "Nothing is kept." })]),
        ...(judged.length ? [make("p", { textContent: `You chose the right answer in ${judged.length - wrong.length} of ${judged.length} ${judged.length === 1 ? "prediction" : "predictions"}.` })] : []),
        ...links("Read again:", wrong),
        ...links("Compare your own words with the answer:", made.filter((each) => !each.right)),
        ...links("Not predicted yet:", fields.filter((each) => each.said === undefined)),
      );
    }

    for (const first of document.querySelectorAll(".bd-article p > strong:first-child")) {
      const question = first.parentElement;
      if (first.textContent !== "Predict." || question.firstChild !== first) continue;
      const found = follows(question);
      if (found) fields.push(field(question, found, tell));
    }
    if (!fields.length) return;
    forget.addEventListener("click", () => {
      write({});
      fields.forEach((each) => each.show(undefined));
      tell();
    });
    document.querySelector(".bd-article > section").append(end);
    // Headings are copied with their formulas, which the browser typesets where the build could not.
    Promise.resolve(window.MathJax?.startup?.promise).then(tell);
  });
})();
