// The search page. Signs and short forms are spelled out as in the text; words that stand everywhere are left out.
(() => {
  const SAME = [[/√\s*/g, "sqrt "], [/\bkv\b/gi, "key value"], [/\bffn\b/gi, "feed-forward"], [/\bmha\b/gi, "multi-head attention"],
    [/\bvit\b/gi, "vision transformer"], [/\bhand(ing)? in\b/gi, "submit"], [/\b(an?|and|by|do|does|how|i|in|is|it|of|the|to|we|why)\b/gi, " "]];
  const spelled = (words) => SAME.reduce((text, [short, long]) => text.replace(short, long), words).trim() || words;
  const search = new window.PagefindUI({
    element: "#course-search",
    showSubResults: true,
    showImages: false,
    pageSize: 8,
    autofocus: true,
    processTerm: spelled,
  });
  const asked = new URLSearchParams(window.location.search).get("q");
  if (asked) search.triggerSearch(asked);
})();
