// Opens the technique that a link leads to, and filters the table of graph.html.
"use strict";
(() => {
  const open = () => {
    const found = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!found || found.tagName !== "DETAILS") return;
    found.open = true;
    found.scrollIntoView();
    found.querySelector("summary").focus({ preventScroll: true });
  };
  addEventListener("hashchange", open);
  open();
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((one) => { one.open = true; }));

  const filter = document.getElementById("filter");
  if (!filter) return;
  const rows = [...document.querySelectorAll("#techniques tbody tr")];
  filter.addEventListener("input", () => {
    const wanted = filter.value.trim().toLowerCase();
    rows.forEach((row) => { row.hidden = !row.dataset.name.includes(wanted); });
    const left = rows.filter((row) => !row.hidden).length;
    document.getElementById("shown").textContent = wanted ? `${left} of ${rows.length}` : "";
  });
})();
