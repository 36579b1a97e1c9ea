// Typesets formulas while the site is built: reads [[latex, display], …] as JSON, writes {formulas, errors, css}.
const options = {
  loader: { load: ["input/tex", "output/chtml", "a11y/assistive-mml"] }, // MathML beside it, for screen readers
  tex: {
    packages: { "[-]": ["noundefined", "noerrors"] },
    formatError: (input, error) => { throw error; },
  },
  chtml: { fontURL: "." },
};

async function main() {
  const asked = JSON.parse(require("fs").readFileSync(0, "utf8"));
  const MathJax = await require("mathjax").init(options);
  const said = { formulas: [], errors: [] };
  for (const [tex, display] of asked) {
    try {
      const formula = await MathJax.tex2chtmlPromise(tex, { display, em: 16, ex: 8 });
      said.formulas.push(MathJax.startup.adaptor.outerHTML(formula));
      said.errors.push("");
    } catch (error) {
      said.formulas.push("");
      said.errors.push(error.message);
    }
  }
  said.css = MathJax.startup.adaptor.textContent(MathJax.chtmlStylesheet());
  process.stdout.write(JSON.stringify(said));
}

main();
