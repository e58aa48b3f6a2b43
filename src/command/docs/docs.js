// The search over ENTRIES (title, page, what it does, place), and the menu of narrow screens.
"use strict";
const MAX_RESULTS = 14;
const query = document.getElementById("query");
const results = document.getElementById("results");
// A compound is found in any spelling: `colormap` for "color map" and `color_map`.
const texts = ENTRIES.map(([title, page, about]) => `${title} ${page} ${about}`.toLowerCase()).map((text) => `${text} ${text.replace(/[\s_-]/g, "")}`);

// Entries that have all words. A title that is or begins with the query comes first, then titles, then descriptions.
function found(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const rank = (title) => {
    const lower = title.toLowerCase(), whole = words.join(" ");
    if (lower === whole || lower.split(".").pop() === whole || lower === "--" + whole) return 0;
    if (lower.startsWith(whole)) return 1;
    return words.every((word) => lower.includes(word)) ? 2 : 3;
  };
  const hits = ENTRIES.filter((_, at) => words.every((word) => texts[at].includes(word)));
  return hits.map((entry) => [rank(entry[0]), entry]).sort((a, b) => a[0] - b[0]).slice(0, MAX_RESULTS).map(([, entry]) => entry);
}

function show() {
  const rows = found(query.value).map(([title, page, about, place]) => {
    const link = document.createElement("a");
    link.href = ROOT + place;
    link.append(title);
    const small = document.createElement("small");
    small.textContent = about ? `${page}: ${about}` : page;
    link.append(small);
    const row = document.createElement("li");
    row.append(link);
    return row;
  });
  results.replaceChildren(...rows);
  results.hidden = rows.length === 0;
}

query.addEventListener("input", show);
query.addEventListener("focus", show);
results.addEventListener("click", () => { results.hidden = true; });
document.addEventListener("click", (event) => {
  if (!event.target.closest("search")) results.hidden = true;
});
document.addEventListener("keydown", (event) => {
  const links = [...results.querySelectorAll("a")];
  const at = links.indexOf(document.activeElement);
  const inside = document.activeElement === query || at >= 0;
  if (event.key === "/" && !inside) {
    event.preventDefault();
    query.focus();
  } else if (event.key === "Escape" && inside) {
    results.hidden = true;
    query.blur();
  } else if (event.key === "Enter" && document.activeElement === query && links.length > 0) {
    links[0].click();
  } else if (["ArrowDown", "ArrowUp"].includes(event.key) && inside && links.length > 0) {
    event.preventDefault();
    const next = at + (event.key === "ArrowDown" ? 1 : -1);
    (next < 0 ? query : links[Math.min(next, links.length - 1)]).focus();
  }
});

const menu = document.getElementById("menu");
menu.addEventListener("click", () => {
  const isOpen = document.getElementById("navigation").classList.toggle("open");
  menu.setAttribute("aria-expanded", isOpen);
});
document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest" });
// Pictures stand beside their texts here.
for (const details of document.querySelectorAll(".sample details")) details.open = true;
