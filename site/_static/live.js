// Live figures: where a figure has a chart, the chart takes the place of its picture when the reader comes near it.
(() => {
  const vega = new URL("vega/vega.js", document.currentScript.src).href;
  let loading;

  function load() {
    loading ??= new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = vega;
      script.onload = done;
      script.onerror = failed;
      document.head.append(script);
    });
    return loading;
  }

  async function draw(figure) {
    const chart = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
    delete chart.$schema; // an older Vega-Lite, for JupyterLab; this one draws it too
    await load();
    const place = document.createElement("div");
    place.className = "course-live-chart";
    const picture = figure.querySelector("img");
    picture.parentElement.before(place);
    try {
      const options = { mode: "vega-lite", actions: false, renderer: "svg" };
      let columns = chart.columns ?? 1;
      let drawn = await window.vegaEmbed(place, chart, options);
      while (columns > 1 && place.querySelector("svg").getAttribute("width") > figure.clientWidth) {
        columns -= 1; // as many panels side by side as there is room for
        drawn.finalize();
        drawn = await window.vegaEmbed(place, { ...chart, columns }, options);
      }
    } catch (error) {
      place.remove(); // the picture stays
      throw error;
    }
    for (const choice of place.querySelectorAll(".vega-bind:has(.vega-bind-radio)")) {
      choice.setAttribute("role", "radiogroup");
      choice.setAttribute("aria-label", choice.querySelector(".vega-bind-name").textContent.trim());
    }
    picture.hidden = true;
    fit(place);
    window.addEventListener("resize", () => fit(place));
    figure.dataset.drawn = "yes";
  }

  // Controls and chart share one screen: where the chart is too high for that, it is drawn smaller, down to two thirds.
  function fit(place) {
    const svg = place.querySelector("svg");
    const [width, height] = ["width", "height"].map((each) => Number(svg.getAttribute(each)));
    const above = document.querySelector(".bd-header").offsetHeight + (place.querySelector(".vega-bindings")?.offsetHeight ?? 0);
    const scale = Math.max(0.66, Math.min(1, (window.innerHeight - above - 8) / height));
    svg.style.maxWidth = `min(100%, ${Math.floor(scale * width)}px)`;
  }

  document.addEventListener("DOMContentLoaded", () => {
    const near = new IntersectionObserver((seen) => {
      for (const each of seen) {
        if (!each.isIntersecting) continue;
        near.unobserve(each.target);
        draw(each.target);
      }
    }, { rootMargin: "400px" });
    document.querySelectorAll(".course-live").forEach((each) => near.observe(each));
  });
})();
