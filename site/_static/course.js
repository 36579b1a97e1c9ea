// Before printing, all that is folded is opened, answers move to the end of the page, and the page is light, as paper is.
// Afterwards all is as before.
let opened = [];
let moved = [];
let theme;
window.addEventListener("beforeprint", () => {
  if (theme) return; // is prepared already
  theme = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
  opened = [...document.querySelectorAll(".bd-article details:not([open])")];
  opened.forEach((each) => { each.open = true; });
  const answers = [...document.querySelectorAll(".bd-article details")]
    .filter((each) => each.querySelector("summary").textContent.trim() === "Answer");
  if (!answers.length) return;
  const end = document.createElement("section");
  end.className = "course-answers";
  end.append(Object.assign(document.createElement("h2"), { textContent: "Answers" }));
  moved = answers.map((answer, index) => {
    const place = Object.assign(document.createElement("p"), { className: "course-answer", textContent: `Answer ${index + 1}: at the end.` });
    answer.replaceWith(place);
    answer.querySelector("summary").textContent = `Answer ${index + 1}`;
    end.append(answer);
    return { answer, place };
  });
  document.querySelector(".bd-article > section").append(end);
});
window.addEventListener("afterprint", () => {
  if (!theme) return;
  for (const { answer, place } of moved) {
    answer.querySelector("summary").textContent = "Answer";
    place.replaceWith(answer);
  }
  moved = [];
  document.querySelector(".course-answers")?.remove();
  opened.forEach((each) => { each.open = false; });
  document.documentElement.dataset.theme = theme;
  theme = undefined;
});

// A figure opens at its full size, in a box that Escape, its button or another click closes; by a click on it or on the
// button in its caption, which the keyboard reaches.
document.addEventListener("click", (event) => {
  const pressed = event.target.closest(".course-figure img, .course-full");
  if (!pressed) return;
  const pictures = [...pressed.closest(".course-figure").querySelectorAll("img")];
  const picture = pictures.find((each) => each.checkVisibility()); // of a page's two, one for each theme; it has the words
  const large = document.createElement("dialog");
  large.className = "course-large";
  const close = document.createElement("button");
  close.textContent = "Close";
  close.className = "btn btn-outline-primary";
  const copy = document.createElement("img");
  copy.src = picture.currentSrc || picture.src;
  copy.alt = picture.alt;
  large.append(close, copy);
  large.addEventListener("click", () => large.close());
  large.addEventListener("close", () => large.remove());
  document.body.append(large);
  large.showModal();
});
window.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll(".course-figure figcaption > span").forEach((caption) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "course-full";
    button.textContent = "full size";
    button.setAttribute("aria-label", `${caption.textContent.split(". ")[0]} at its full size`);
    caption.after(" ", button);
  });
});

// What unfolds a part of the list of pages is a symbol without words: it is named after the page beside it.
window.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll(".bd-sidebar-primary li.has-children > details > summary").forEach((each) => {
    each.setAttribute("aria-label", `Pages below ${each.closest("li").querySelector("a").textContent.trim()}`);
  });
});

// Where the course names no address, a notebook that is downloaded gets that of this site: its first cell then installs
// the helper package from here. A page that was opened as a file has no address, and offers the package beside the notebook.
window.addEventListener("DOMContentLoaded", () => {
  const button = document.querySelector(".course-buttons [data-setup]");
  if (!button || !location.protocol.startsWith("http")) return;
  const archive = document.getElementById("course-archive");
  const setup = button.dataset.setup.replaceAll("HERE/coursekit.zip", archive.href.replaceAll("'", "%27"));
  archive.remove();
  button.title = "Its first cell says how to install what it needs, from this site; in Colab it does so itself";
  button.addEventListener("click", async (event) => {
    if (button.href.startsWith("blob:")) return; // is written already
    event.preventDefault();
    const notebook = await (await fetch(button.href)).json();
    const cell = notebook.cells.find((each) => each.metadata.tags?.includes("course-setup"));
    if (cell) cell.source = setup;
    button.href = URL.createObjectURL(new Blob([JSON.stringify(notebook, null, 1)], { type: "application/x-ipynb+json" }));
    button.click();
  });
});
