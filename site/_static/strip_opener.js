// What a lecture's page computes on request: one sentence through one Transformer, or a language model that writes.
// It is a box; until that is opened, nothing of it is loaded.
(() => {
  const { src, dataset } = document.currentScript;
  const folder = new URL("strip/", src).href;
  const OFFERS = {
    strip: {
      title: "One sentence through one Transformer",
      words: "Follow a sentence of yours through the course's small BERT, number by number.",
      press: "Open the strip (loads 3 MB)",
      script: "strip.js",
      first: "[role=tab][aria-selected=true]",
      put: beforeSections,
    },
    writer: {
      title: "The model writes",
      words: "Let this lecture's language model write Python, token by token, and see what it could have written.",
      press: "Open the model (loads 2 MB)",
      script: "writer.js",
      first: "#writer-prompt",
      put: (box) => atEnd(document.querySelector("#let-it-write"), box),
    },
  };
  const offer = dataset.part === "writer" ? OFFERS.writer : OFFERS.strip;

  // Before the first section, or the anchor that stands in front of it.
  function beforeSections(box) {
    const section = document.querySelector(".bd-article > section > section");
    const before = section?.previousElementSibling;
    (isAnchor(before) ? before : section)?.before(box);
  }

  // At the end of a section, before the anchor of the next one.
  function atEnd(section, box) {
    const last = section?.lastElementChild;
    if (isAnchor(last)) last.before(box);
    else section?.append(box);
  }

  function isAnchor(element) {
    return element?.matches("p") && element.querySelector("a[id]") && !element.textContent.trim();
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
    const box = document.createElement("section");
    box.className = "course-strip";
    box.setAttribute("aria-label", offer.title);
    box.innerHTML = `<p><strong>${offer.title}.</strong> <span>${offer.words}
      It is computed here in the page; nothing is sent.</span></p>
      <button type="button" class="btn btn-outline-primary">${offer.press}</button>
      <p role="status"></p><div></div>`;
    const [button, told, place] = [
      box.querySelector("button"),
      box.querySelector("[role=status]"),
      box.lastElementChild,
    ];
    offer.put(box);
    button.addEventListener("click", async () => {
      button.disabled = true;
      told.textContent = "Loading …";
      try {
        const [{ open }] = await Promise.all([import(new URL(offer.script, folder)), loadStyle()]);
        await open(place, dataset.part, folder);
        told.textContent = "";
        box.querySelector("span").remove();
        button.remove();
        place.querySelector(offer.first).focus();
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
