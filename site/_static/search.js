// The search page. Signs and short forms are spelled out as in the text; words that stand everywhere are left out.
(() => {
  const SAME = [[/√\s*/g, "sqrt "], [/\bkv\b/gi, "key-value"], [/\bffn\b/gi, "feed-forward"], [/\bmha\b/gi, "multi-head attention"],
    [/\bvit\b/gi, "vision transformer"], [/\bhand(ing)? in\b/gi, "submit"], [/\b(an?|and|by|do|does|how|i|in|is|it|of|the|to|we|why)\b/gi, " "]];
  const spelled = (words) => SAME.reduce((text, [short, long]) => text.replace(short, long), words).trim() || words;
  // Formulas stand in the index as TeX; what is read most is shown as on the page. An excerpt may begin after a heading's number.
  const TEX = [[/^· /, ""], [/\\sqrt\{([^{}]+)\}/g, "√$1"], [/\\sqrt\b/g, "√"], [/\\(?:operatorname|mathrm|text)\{([^{}]+)\}/g, "$1"], [/\\(?:top|,|;|quad)\b/g, " "]];
  const readable = (text) => TEX.reduce((found, [tex, shown]) => found.replace(tex, shown), text);
  const shown = (result) => {
    for (const each of [result, ...(result.sub_results ?? [])]) {
      each.excerpt = readable(each.excerpt);
      if (each.title) each.title = readable(each.title);
    }
    return result;
  };
  const search = new window.PagefindUI({
    element: "#course-search",
    showSubResults: true,
    showImages: false,
    pageSize: 8,
    autofocus: true,
    processTerm: spelled,
    processResult: shown,
  });
  const asked = new URLSearchParams(window.location.search).get("q");
  if (asked) search.triggerSearch(asked);
})();
