// Small helpers. All text of the data reaches the page by textContent, never as markup.

const byId = (id) => document.getElementById(id);

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") made.className = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.map((child) => (typeof child === "number" ? String(child) : child)));
  return made;
}

function table(head, rows, shown = -1) {
  const body = rows.map((cells, i) =>
    element("tr", i === shown ? { class: "shown" } : {}, ...cells.map((cell, column) =>
      column === 0 ? element("th", { scope: "row" }, cell) : element("td", {}, cell))));
  const titles = head.map((title) => element("th", { scope: "col", title }, title));
  return element("table", {},
    element("thead", {}, element("tr", {}, ...titles)), element("tbody", {}, ...body));
}

const clip = (text, most = 40) => (text.length <= most ? text : text.slice(0, most - 1) + "…");

// Plotly reads a little markup in its texts.
const plain = (text, most = 40) =>
  clip(text, most).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

// A minus sign only where the rounded number is below zero.
function signed(value, digits) {
  const text = Math.abs(value).toFixed(digits);
  return (Number(text) === 0 ? "" : value < 0 ? "−" : "+") + text;
}

const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)} %`;
const count = (number) => number.toLocaleString("en");
const plural = (number, what) => `${count(number)} ${what}${number === 1 ? "" : "s"}`;
