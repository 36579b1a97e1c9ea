// Filters the table of students: by name, by concern, and by the percent in the lab that is chosen.
(() => {
  const rows = [...document.querySelectorAll("#students tbody tr")];
  const field = (name) => document.getElementById(name);
  function filter() {
    const name = field("name").value.trim().toLowerCase();
    const lab = field("lab").value;
    const below = field("below").value === "" ? Infinity : Number(field("below").value);
    let count = 0;
    for (const row of rows) {
      const cells = [...row.querySelectorAll("td[data-lab]")].filter((cell) => !lab || cell.dataset.lab === lab);
      const low = cells.some((cell) => cell.dataset.percent !== "" && Number(cell.dataset.percent) < below);
      const fits =
        row.dataset.student.toLowerCase().includes(name) &&
        (!field("concerned").checked || row.dataset.concerned === "yes") &&
        (below === Infinity || low);
      row.hidden = !fits;
      count += fits;
    }
    field("shown").textContent = `${count} of ${rows.length} students`;
  }
  field("filters").hidden = false;
  field("filters").addEventListener("input", filter);
  field("filters").addEventListener("submit", (event) => event.preventDefault());
  filter();
})();
