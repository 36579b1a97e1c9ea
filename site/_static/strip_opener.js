// One sentence through one Transformer: a box before the first section. Until it is opened nothing of it is loaded.
(() => {
  const { src, dataset } = document.currentScript;
  const folder = new URL("strip/", src).href;

  // The first section, or the anchor that stands in front of it.
  function before() {
    const section = document.querySelector(".bd-article > section > section");
    const anchor = section?.previousElementSibling;
    return anchor?.matches("p") && anchor.querySelector("a[id]") && !anchor.textContent.trim() ? anchor : section;
  }

  function loadStyle() {
    return new Promise((done, failed) => {
      const link = Object.assign(document.createElement("link"), {
        rel: "stylesheet",
        href: new URL("strip.css", folder).href,
        onload: done,
        onerror: failed,
      });
      document.head.append(link);
    });
  }

  document.addEventListener("DOMContentLoaded", () => {
    const first = before();
    if (!first) return;
    const box = document.createElement("section");
    box.className = "course-strip";
    box.setAttribute("aria-label", "One sentence through one Transformer");
    box.innerHTML = `<p><strong>One sentence through one Transformer.</strong> <span>Follow a sentence of yours through
      the course's small BERT, number by number. It is computed here in the page; nothing is sent.</span></p>
      <button type="button" class="btn btn-outline-primary">Open the strip (loads 3 MB)</button>
      <p role="status"></p><div></div>`;
    const [button, told, place] = [
      box.querySelector("button"),
      box.querySelector("[role=status]"),
      box.lastElementChild,
    ];
    first.before(box);
    button.addEventListener("click", async () => {
      button.disabled = true;
      told.textContent = "Loading …";
      try {
        const [{ open }] = await Promise.all([import(new URL("strip.js", folder)), loadStyle()]);
        await open(place, dataset.part, folder);
        told.textContent = "";
        box.querySelector("span").remove();
        button.remove();
        place.querySelector("[role=tab][aria-selected=true]").focus();
      } catch (error) {
        button.disabled = false;
        told.textContent =
          location.protocol === "file:"
            ? "A page that is opened as a file may not read the model's numbers. " +
              "Open the site from a web server: run “python -m http.server” in its folder."
            : "The model could not be loaded. Try again when you are connected.";
        if (location.protocol !== "file:") console.warn(error);
      }
    });
  });
})();
