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

// A result of the search opens its page at the words that were looked for: the browser finds and marks them.
document.addEventListener("click", (event) => {
  const link = event.target.closest("#search-results a[href]");
  const field = link && [...document.querySelectorAll("input[name=q]")].find((each) => each.value.trim());
  if (!field || link.href.includes(":~:")) return;
  const words = encodeURIComponent(field.value.trim()).replaceAll("-", "%2D");
  link.href += `${link.hash ? "" : "#"}:~:text=${words}`;
}, true);
