// The journey of one token: its vector goes from stage to stage by itself or step by step, and lies below its stage.
import { make, stripes } from "./drawing.js";

const PAUSE = 5000; // milliseconds at a stage, for who watches
const STILL = matchMedia("(prefers-reduced-motion: reduce)");

export class Journey {
  constructor(view, stages) {
    this.view = view;
    this.stages = stages;
    const button = (words, press) => {
      const made = make("button", { type: "button", className: "btn btn-outline-primary btn-sm" }, words);
      made.addEventListener("click", press);
      return made;
    };
    this.player = button("Play", () => (this.timer ? this.pause() : this.play()));
    this.next = button("Next", () => {
      this.pause();
      this.step();
    });
    this.where = make("span", { role: "status" });
    this.carried = make("div", { className: "strip-carried" });
    this.element = make(
      "div",
      { className: "strip-journey" },
      this.carried,
      make("div", { className: "strip-buttons" }, this.player, this.next, this.where),
    );
    new ResizeObserver(() => this.#place()).observe(this.element);
  }

  get at() {
    return this.stages.indexOf(this.view.state.stage);
  }

  play() {
    if (this.at === this.stages.length - 1) this.view.go(this.stages[0]);
    else this.step();
    this.timer = setInterval(() => {
      if (!this.element.isConnected || this.at >= this.stages.length - 2) this.pause();
      if (this.element.isConnected) this.step();
    }, PAUSE);
    this.player.textContent = "Pause";
  }

  pause() {
    clearInterval(this.timer);
    this.timer = undefined;
    this.player.textContent = "Play";
  }

  step() {
    this.view.go(this.stages[(this.at + 1) % this.stages.length]);
  }

  // The vector as the open stage leaves it, below that stage.
  show() {
    const { stage, token } = this.view.state;
    const { values, role, what } = stage.carries(this.view);
    const numbers = stripes(values, values.length, role);
    const changed = this.shown && this.shown !== stage;
    this.shown = stage;
    this.carried.replaceChildren(make("b", {}, this.view.words[token]), numbers, make("span", {}, what));
    this.where.textContent = `stage ${this.at + 1} of ${this.stages.length}: ${stage.name}`;
    this.next.textContent = this.at === this.stages.length - 1 ? "From the start" : "Next";
    this.#place();
    if (changed && !STILL.matches) numbers.animate([{ opacity: 0, scale: "0.6 1" }, {}], 600);
  }

  #place() {
    const tab = this.view.tabs[this.at];
    const middle = tab.offsetLeft + tab.offsetWidth / 2 - this.element.offsetLeft;
    const room = this.element.clientWidth - this.carried.offsetWidth;
    const left = Math.min(Math.max(middle - this.carried.offsetWidth / 2, 0), Math.max(room, 0));
    this.carried.style.setProperty("--left", `${left}px`);
    this.carried.style.setProperty("--tip", `${middle - left}px`);
    const last = this.view.tabs.at(-1).offsetTop; // a narrow window has several rows of stages: the tip points at the last one
    this.carried.classList.toggle("strip-below", tab.offsetTop === last);
  }
}
