// The graph: the whole of it, or the rings around the chosen node; coloured, searched, clicked.

const RINGS_AT_MOST = 400;

// Up to here SVG is smooth enough, and WebGL takes long to start.
const SVG_AT_MOST = 500;

// Without WebGL plotly can still draw a large graph, only slower.
function traceType(drawn) {
  if (drawn <= SVG_AT_MOST) return "scatter";
  return document.createElement("canvas").getContext("webgl") ? "scattergl" : "scatter";
}

class Explorer {
  constructor(nodes) {
    this.nodes = nodes;
    this.chosen = nodes.start;
    this.story = new Story(nodes, (node) => this.choose(node));
    this.fillMenus();
    this.listen();
    this.redraw(true);
    this.story.show(this.chosen);
    this.caption();
    redraws.push(() => { this.redraw(false); this.story.show(this.chosen); });
    byId("graph").on("plotly_click", (event) => {
      const node = event.points[0]?.customdata;
      if (node !== undefined) this.choose(node);
    });
  }

  fillMenus() {
    const n = this.nodes;
    const colours = [["label", "label"], ["predicted", "prediction"], ["correct", "right or wrong"],
      ...(n.decides ? [["step", "step"]] : []), ...(n.priorities ? [["priority", "priority"]] : []),
      ["part", "split"]];
    const views = [...(n.positions ? [["all", "whole graph"]] : []),
      ["1", "neighbours"], ["2", "2 hops around"], ["3", "3 hops around"]];
    const fill = (id, pairs) => byId(id).append(...pairs.map(([value, text]) =>
      element("option", { value }, text)));
    fill("colour", colours);
    fill("view", views);
    if (!n.positions) byId("view").value = "2";
  }

  listen() {
    byId("colour").addEventListener("change", () => this.redraw(false));
    byId("view").addEventListener("change", () => { this.redraw(true); this.caption(); });
    startSearch(this.nodes, (node) => this.choose(node));
  }

  choose(node) {
    this.chosen = node;
    const rings = byId("view").value !== "all";
    this.redraw(rings);
    this.story.show(node);
    this.caption();
    byId("status").textContent = `Node ${clip(this.nodes.id(node), 80)} chosen: ` +
      `${clip(this.nodes.className(this.nodes.predicted[node]))} predicted.`;
  }

  caption() {
    const n = this.nodes, shown = this.shown;
    const cut = n.nodes < n.total ? ` This report holds ${count(n.nodes)} of the graph's nodes.` : "";
    const drawn = byId("view").value === "all" ? plural(shown.nodes.length, "node")
      : `${plural(shown.nodes.length, "node")} around ${clip(n.id(this.chosen))}, ring k = k hops away` +
        (shown.full ? "" : `; the first ${RINGS_AT_MOST} found`);
    byId("graph-caption").textContent = `${drawn}. Scroll or pinch to zoom, drag to move.${cut}`;
    byId("graph").setAttribute("aria-label", `Drawing of the graph: ${drawn}. ` +
      "The search field and the list of neighbours below reach every node without it.");
  }

  // Which nodes are drawn, and where.
  place() {
    const n = this.nodes, view = byId("view").value;
    if (view !== "all") return rings(n, this.chosen, Number(view), RINGS_AT_MOST);
    const all = Array.from({ length: n.nodes }, (_, node) => node);
    const at = (axis) => all.map((node) => n.positions[2 * node + axis]);
    return { nodes: all, x: at(0), y: at(1), radius: 0, full: true };
  }

  redraw(moved) {
    if (moved) {
      this.shown = this.place();
      this.where = new Map(this.shown.nodes.map((node, i) => [node, i]));
      this.view_ = (this.view_ ?? 0) + 1;
      this.type_ = traceType(this.shown.nodes.length);
    }
    const groups = colouring(this.nodes, byId("colour").value);
    showLegend(groups);
    const traces = [this.edges(false), ...this.points(groups), this.edges(true), this.halo()];
    draw(byId("graph"), { data: traces, layout: this.layout() }, { scrollZoom: true });
  }

  layout() {
    const axis = { visible: false, zeroline: false };
    const rim = this.shown.radius + 0.35;
    const range = this.shown.radius ? { range: [-rim, rim] } : {};
    const circle = (r) => ({ type: "circle", layer: "below", x0: -r, x1: r, y0: -r, y1: r,
      line: { color: "@line", width: 1, dash: "dot" } });
    return {
      margin: { l: 4, r: 4, t: 4, b: 4 }, dragmode: "pan", hovermode: "closest", showlegend: false,
      uirevision: this.view_,
      shapes: Array.from({ length: this.shown.radius }, (_, i) => circle(i + 1)),
      xaxis: { ...axis, ...range },
      yaxis: { ...axis, ...range, ...(this.shown.radius ? { scaleanchor: "x" } : {}) },
    };
  }

  edges(chosenOnly) {
    const n = this.nodes, x = [], y = [], half = n.edges.length / 2;
    const add = (a, b) => {
      const [i, j] = [this.where.get(a), this.where.get(b)];
      if (i === undefined || j === undefined) return;
      x.push(this.shown.x[i], this.shown.x[j], null);
      y.push(this.shown.y[i], this.shown.y[j], null);
    };
    if (chosenOnly) n.neighbours(this.chosen).forEach((other) => add(this.chosen, other));
    else if (this.shown.nodes.length === n.nodes) for (let e = 0; e < half; e += 1) add(...n.edge(e));
    else for (const a of this.shown.nodes) n.neighbours(a).forEach((b) => { if (a < b) add(a, b); });
    // The more edges there are, the fainter each is, so that the nodes stay in sight.
    const ink = Math.min(0.24, Math.max(0.025, 1200 / (x.length / 3 + 1)));
    const colour = chosenOnly ? "@near" : `rgba(${themeColour("edge")}, ${ink})`;
    return { type: this.type_, mode: "lines", x, y, hoverinfo: "skip",
      line: { color: colour, width: chosenOnly ? 1.5 : 1 } };
  }

  points(groups) {
    const drawn = this.shown.nodes.length, size = drawn > 500 ? 6 : drawn > 150 ? 8 : 11;
    const places = groups.map(() => []);
    this.shown.nodes.forEach((node, i) => places[groups.of(node)].push(i));
    return groups.map((group, g) => ({
      type: this.type_, mode: "markers",
      x: places[g].map((i) => this.shown.x[i]), y: places[g].map((i) => this.shown.y[i]),
      customdata: places[g].map((i) => this.shown.nodes[i]),
      text: places[g].map((i) => this.hover(this.shown.nodes[i])),
      hovertemplate: "%{text}<extra></extra>",
      marker: { size, line: { width: size > 6 ? 1 : 0.5, color: "@card" },
        ...group.marker(places[g].map((i) => this.shown.nodes[i])) },
    }));
  }

  hover(node) {
    const n = this.nodes;
    const lines = [`<b>${plain(n.id(node))}</b>`, `label ${plain(n.className(n.labels[node]))}`,
      `predicted ${plain(n.className(n.predicted[node]))}`];
    if (n.decides) lines.push(`step ${n.steps[node]}`);
    if (n.priorities) lines.push(`priority ${n.priorities[node].toFixed(3)}`);
    return lines.join("<br>");
  }

  halo() {
    const i = this.where.get(this.chosen);
    return { type: this.type_, mode: "markers", hoverinfo: "skip",
      x: [this.shown.x[i]], y: [this.shown.y[i]],
      marker: { size: 20, symbol: "circle-open", color: "@ink", line: { width: 3, color: "@ink" } } };
  }
}

// Groups of nodes with a name and a colour, or one group with a scale.
function colouring(nodes, by) {
  const fixed = (name, colour) => ({ name, colour, marker: () => ({ color: colour }) });
  const made = (groups, of) => Object.assign(groups, { of });
  const classes = nodes.classes.map((name, c) => fixed(name, categoryColour(c)));
  const none = fixed("no label", "@muted");
  if (by === "label") {
    const unknown = nodes.labels.includes(-1);
    return made(unknown ? [...classes, none] : classes,
      (i) => (nodes.labels[i] < 0 ? classes.length : nodes.labels[i]));
  }
  if (by === "predicted") return made(classes, (i) => nodes.predicted[i]);
  if (by === "correct") {
    return made([fixed("right", "@right"), fixed("wrong", "@wrong"), none],
      (i) => (nodes.labels[i] < 0 ? 2 : nodes.labels[i] === nodes.predicted[i] ? 0 : 1));
  }
  if (by === "part") {
    return made([fixed("none", "@muted"), ...["training", "validation", "test"].map((name, c) =>
      fixed(name, categoryColour(c + 2)))], (i) => nodes.part[i]);
  }
  return made([scale(by, by === "step" ? nodes.steps : nodes.priorities)], () => 0);
}

// A colour scale that a few extreme values do not stretch.
function scale(name, values) {
  const sorted = Float64Array.from(values).sort();
  const at = (q) => sorted[Math.round(q * (sorted.length - 1))];
  let [low, high] = name === "step" ? [sorted[0], sorted.at(-1)] : [at(0.02), at(0.98)];
  if (high <= low) high = low + 1e-6;
  return { name, low, high, marker: (shown) => ({ color: shown.map((node) => values[node]),
    cmin: low, cmax: high, colorscale: "@sequential", showscale: false }) };
}

function showLegend(groups) {
  const entries = groups.map((group) => {
    if (group.low === undefined) return legendEntry(group.name, resolveColour(group.colour));
    const ends = [group.low, group.high].map((v) => (Number.isInteger(v) ? String(v) : v.toFixed(3)));
    return element("li", {}, element("span", {}, `${group.name} ${ends[0]}`),
      element("span", { class: "ramp" }), element("span", {}, ends[1]));
  });
  byId("legend").replaceChildren(...entries);
}

// Breadth-first rings: a node k hops away stands on ring k, near the one it was reached from.
function rings(nodes, centre, hops, most) {
  const parent = new Map([[centre, null]]);
  const children = new Map();
  let ring = [centre], radius = 0;
  for (let k = 1; k <= hops && parent.size < most; k += 1) {
    const next = [];
    for (const node of ring) {
      for (const other of nodes.neighbours(node)) {
        if (parent.has(other) || parent.size >= most) continue;
        parent.set(other, node);
        children.set(node, [...(children.get(node) ?? []), other]);
        next.push(other);
      }
    }
    if (next.length) radius = k;
    ring = next;
  }
  const leaves = new Map();
  const countLeaves = (node) => {
    const total = (children.get(node) ?? []).reduce((sum, child) => sum + countLeaves(child), 0);
    leaves.set(node, Math.max(total, 1));
    return leaves.get(node);
  };
  countLeaves(centre);
  const shown = { nodes: [], x: [], y: [], radius: Math.max(radius, 1), full: parent.size < most };
  const put = (node, depth, from, to) => {
    const angle = (from + to) / 2;
    shown.nodes.push(node);
    shown.x.push(depth * Math.cos(angle));
    shown.y.push(depth * Math.sin(angle));
    let begin = from;
    for (const child of children.get(node) ?? []) {
      const end = begin + ((to - from) * leaves.get(child)) / leaves.get(node);
      put(child, depth + 1, begin, end);
      begin = end;
    }
  };
  put(centre, 0, 0, 2 * Math.PI);
  return shown;
}
