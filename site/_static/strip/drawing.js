// What the stages draw with: elements, stripes and maps of numbers, bars. A map is a grid that arrow keys walk through.

export function make(tag, properties = {}, ...children) {
  const { role, label, data, style, ...plain } = properties;
  const made = Object.assign(document.createElement(tag), plain);
  if (role) made.setAttribute("role", role);
  if (label) made.setAttribute("aria-label", label);
  Object.assign(made.dataset, data);
  for (const [name, value] of Object.entries(style ?? {})) made.style.setProperty(name, value);
  made.append(...children);
  return made;
}

export function drawn(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// A paragraph; what stands between backticks is code.
export function prose(text, properties = {}) {
  return make("p", properties, ...text.split("`").map((part, at) => (at % 2 ? make("code", {}, part) : part)));
}

// Digits for reading: two behind the point, none for what is large; a true minus sign.
export function number(value, digits = Math.abs(value) < 100 ? 2 : 0) {
  return value
    .toFixed(digits)
    .replace(/^-(0(\.0+)?)$/, "$1")
    .replace("-", "−");
}

// A percentage that no end of a line parts from its sign.
export const share = (value) =>
  value > 0 && value < 0.005 ? "<\u00a01\u00a0%" : `${Math.round(100 * value)}\u00a0%`;

export const largest = (values) =>
  values.reduce((all, each) => (Number.isFinite(each) ? Math.max(all, Math.abs(each)) : all), 1e-9);

const colour = (name) => getComputedStyle(document.querySelector(".course-strip")).getPropertyValue(`--strip-${name}`);

// Numbers as colours, `columns` in each row: the role's colour for positive ones, grey for negative ones.
export function stripes(
  values,
  columns,
  role,
  { top = largest(values), label = "", className = "strip-stripes" } = {},
) {
  const canvas = make("canvas", {
    width: columns,
    height: values.length / columns,
    className,
    role: label && "img",
    label,
  });
  if (!label) canvas.setAttribute("aria-hidden", "true");
  const pen = canvas.getContext("2d");
  const [positive, negative] = [colour(role), colour("ink")];
  values.forEach((value, at) => {
    pen.globalAlpha = Math.min(1, Math.abs(value) / top);
    pen.fillStyle = value < 0 ? negative : positive;
    pen.fillRect(at % columns, Math.floor(at / columns), 1, 1);
  });
  return canvas;
}

// A map of T x T numbers, query by key. `view.choose(i, j)` is told where pointer, finger or arrow keys are.
export function map(view, { values, role, blocked = () => false, tells }) {
  const { words, state } = view;
  const T = words.length;
  const top = largest(values.filter((_, at) => !blocked(Math.floor(at / T), at % T)));
  const cells = [];
  const rows = words.map((word, i) => {
    const row = make("tr", {}, make("th", { scope: "row" }, word));
    words.forEach((other, j) => {
      const value = values[i * T + j];
      const cell = make("td", {
        tabIndex: -1,
        className: blocked(i, j) ? "strip-blocked" : "",
        label: `query ${word}, key ${other}: ${tells(i, j)}`,
      });
      cell.style.setProperty("--share", `${blocked(i, j) ? 0 : Math.round((100 * Math.abs(value)) / top)}%`);
      cell.style.setProperty("--colour", `var(--strip-${value < 0 ? "ink" : role})`);
      cells.push(cell);
      row.append(cell);
    });
    return row;
  });
  const heads = words.map((word) => make("th", { scope: "col" }, make("span", {}, word)));
  const table = make(
    "table",
    { className: "strip-map", role: "grid", label: "query by key", style: { "--count": T } },
    make("thead", {}, make("tr", {}, make("td", { className: "strip-corner" }, "query ↓ key →"), ...heads)),
    make("tbody", {}, ...rows),
  );
  let chosen;
  const choose = (at) => {
    if (chosen) {
      chosen.tabIndex = -1;
      chosen.removeAttribute("aria-selected");
    }
    chosen = cells[at];
    chosen.tabIndex = 0;
    chosen.setAttribute("aria-selected", "true");
    view.choose(Math.floor(at / T), at % T);
  };
  const point = (event) => {
    const at = cells.indexOf(event.target.closest("td"));
    if (at >= 0 && cells[at] !== chosen) choose(at);
  };
  // A move is the reader's; that a map comes to lie under a pointer at rest is none.
  for (const kind of ["mousemove", "focusin", "click"]) table.addEventListener(kind, point);
  table.addEventListener("keydown", (event) => {
    const at = cells.indexOf(chosen);
    const [i, j] = [Math.floor(at / T), at % T];
    const step = {
      ArrowLeft: [i, j - 1],
      ArrowRight: [i, j + 1],
      ArrowUp: [i - 1, j],
      ArrowDown: [i + 1, j],
      Home: [i, 0],
      End: [i, T - 1],
    }[event.key];
    if (!step) return;
    event.preventDefault();
    const [row, column] = step.map((each) => Math.min(T - 1, Math.max(0, each)));
    cells[row * T + column].focus();
  });
  choose(state.i * T + state.j);
  return table;
}

// A list of bars, one under the other: [name, length from 0 to 1, words behind it].
export function bars(rows, role, label) {
  const items = rows.map(([name, length, told, special]) => {
    const bar = make("span", {
      className: "strip-bar",
      style: { "--length": `${100 * Math.max(0, Math.min(1, length))}%`, "--colour": `var(--strip-${role})` },
    });
    return make(
      "li",
      { className: special ? "strip-special" : "" },
      make("span", { className: "strip-name" }, name),
      make("span", { className: "strip-track" }, bar),
      make("span", { className: "strip-told" }, told),
    );
  });
  return make("ul", { className: "strip-bars", label }, ...items);
}

// A table: its titles, and rows that begin with their names. A cell is a text, as a number, or an element.
export function table(titles, rows, className = "strip-vectors") {
  const title = (words) => (words ? make("th", { scope: "col" }, words) : make("td"));
  const cell = (content) => {
    if (typeof content === "string") return make("td", { className: "strip-number" }, content);
    return content.matches("td") ? content : make("td", {}, content);
  };
  const body = rows.map(([name, ...cells]) => make("tr", {}, make("th", { scope: "row" }, name), ...cells.map(cell)));
  const head = titles.length ? [make("thead", {}, make("tr", {}, ...titles.map(title)))] : [];
  return make("table", { className }, ...head, make("tbody", {}, ...body));
}

// Buttons of which one is on: [value, words]; `chosen` is the value that is on.
export function choices(title, options, chosen, choose) {
  const name = `strip-${title.replace(/\W+/g, "-")}`;
  const inputs = options.map(([value, words]) => {
    const input = make("input", { type: "radio", name, value: String(value), checked: value === chosen });
    input.addEventListener("change", () => choose(value));
    return make("label", {}, input, make("span", {}, words));
  });
  return make("fieldset", { className: "strip-choices" }, make("legend", {}, title), ...inputs);
}

export const titled = (title, ...children) =>
  make("div", { className: "strip-titled" }, make("p", { className: "strip-title" }, title), ...children);
