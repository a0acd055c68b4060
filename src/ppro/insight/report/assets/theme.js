// Light and dark. Charts name their colours ("@accent"); the style sheet says what these are.

const CATEGORIES = ["#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2",
  "#97bbf5", "#9c6b4e", "#9498a0"];
const COLOUR_KEYS = new Set(["color", "fillcolor", "colorscale"]);
const NARROW = 450;
const redraws = [];

const themeColour = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

const ramp = () => [[0, themeColour("low")], [0.5, themeColour("middle")], [1, themeColour("high")]];

// Golden-angle hues once the hand-picked colours are used up.
const categoryColour = (i) =>
  (i < CATEGORIES.length ? CATEGORIES[i] : `hsl(${Math.round(i * 137.5) % 360} 55% 55%)`);

function resolveColour(name) {
  if (typeof name !== "string" || !name.startsWith("@")) return name;
  if (name === "@sequential") return ramp();
  return name === "@none" ? "rgba(0,0,0,0)" : themeColour(name.slice(1));
}

function resolveColours(value) {
  if (Array.isArray(value)) return value.map(resolveColours);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) =>
    [key, COLOUR_KEYS.has(key) ? resolveColour(inner) : resolveColours(inner)]));
}

function axisStyle(axis = {}) {
  const line = themeColour("line");
  return { gridcolor: line, zerolinecolor: line, linecolor: line, ...axis,
    title: { standoff: 8, ...axis.title } };
}

function themedLayout(layout = {}) {
  const axes = Object.keys(layout).filter((key) => /^[xy]axis\d*$/.test(key));
  return {
    font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: themeColour("ink") },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    margin: { l: 55, r: 12, t: 12, b: 42 },
    legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" },
    hoverlabel: { bgcolor: themeColour("card"), bordercolor: themeColour("line"),
      font: { color: themeColour("ink") } },
    ...layout,
    ...Object.fromEntries(axes.map((key) => [key, axisStyle(layout[key])])),
  };
}

function draw(place, figure, config = {}) {
  const { data, layout, narrow } = resolveColours(figure);
  const fitting = place.clientWidth < NARROW ? { ...layout, ...narrow } : layout;
  return Plotly.react(place, data, themedLayout(fitting),
    { displayModeBar: false, responsive: true, ...config });
}

function legendEntry(name, colour) {
  const swatch = element("span", { class: "swatch" });
  swatch.style.background = colour;
  return element("li", { title: clip(name, 200) }, swatch, element("span", {}, clip(name)));
}

// A chart further down is drawn when it comes into view, so that the page opens fast.
const whenSeen = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    whenSeen.unobserve(entry.target);
    const place = entry.target;
    place.redraw();
    redraws.push(place.redraw);
  }
}, { rootMargin: "300px" });

function addChart(parent, title, figure, note = "") {
  const place = element("div", { class: "chart", role: "img", "aria-label": `${title}. ${note}` });
  const text = note ? [element("p", {}, note)] : [];
  const card = element("figure", { class: "card" }, element("h3", {}, title), ...text, place);
  parent.append(card);
  place.redraw = () => draw(place, figure);
  whenSeen.observe(place);
  return card;
}

function remembered(theme) {
  try {
    if (theme) localStorage.setItem("ppro-theme", theme);
    return localStorage.getItem("ppro-theme");
  } catch {
    return null; // Some browsers keep no memory for files.
  }
}

function setTheme(theme) {
  const dark = theme === "dark";
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  byId("theme").textContent = dark ? "Light" : "Dark";
  byId("theme").setAttribute("aria-label", `Switch to ${dark ? "light" : "dark"} colours`);
  redraws.forEach((redraw) => redraw());
}

function startTheme() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const followed = () => (system.matches ? "dark" : "light");
  setTheme(remembered() ?? followed());
  system.addEventListener("change", () => { if (!remembered()) setTheme(followed()); });
  byId("theme").addEventListener("click", () => {
    const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    remembered(next);
    setTheme(next);
  });
}
