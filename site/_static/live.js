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
    const room = figure.clientWidth;
    if (room < 640) chart.columns = 1;
    await load();
    const place = document.createElement("div");
    place.className = "course-live-chart";
    const picture = figure.querySelector("img");
    picture.before(place);
    try {
      await window.vegaEmbed(place, chart, { actions: false, renderer: "svg" });
    } catch (error) {
      place.remove(); // the picture stays
      throw error;
    }
    picture.hidden = true;
    figure.dataset.drawn = "yes";
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
