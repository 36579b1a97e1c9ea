// Before printing, every answer is opened and the page is light, as paper is; afterwards all is as before.
let opened = [];
let theme;
window.addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll(".bd-article details:not([open])")];
  opened.forEach((each) => { each.open = true; });
  theme = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
});
window.addEventListener("afterprint", () => {
  opened.forEach((each) => { each.open = false; });
  document.documentElement.dataset.theme = theme;
});

// A figure opens at its full size, in a box that Escape, its button or another click closes.
document.addEventListener("click", (event) => {
  const picture = event.target.closest(".course-figure img");
  if (!picture) return;
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

// What unfolds a part of the list of pages is a symbol without words: it is named after the page beside it.
window.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll(".bd-sidebar-primary li.has-children > details > summary").forEach((each) => {
    each.setAttribute("aria-label", `Pages below ${each.closest("li").querySelector("a").textContent.trim()}`);
  });
});
