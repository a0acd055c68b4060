// The story of one node: what it is, how its prediction changes as it propagates, and why.

const PARTS = ["in no part of the split", "training node", "validation node", "test node"];
const MAX_LINES = 6;
const MAX_NEIGHBOURS = 60;
const MOST_DRIVERS = 8;

class Story {
  constructor(nodes, choose) {
    this.nodes = nodes;
    this.choose = choose;
  }

  show(node) {
    this.node = node;
    byId("story-title").textContent = `Node ${this.nodes.id(node)}`;
    byId("badges").replaceChildren(...this.badges(node));
    byId("story-text").textContent = this.sentences(node).join(" ");
    byId("by-step-table").replaceChildren(this.stepTable(node));
    byId("drivers").replaceChildren(...this.drivers(node));
    byId("features").replaceChildren(...this.features(node));
    this.showNeighbours(node);
    this.redraw();
  }

  badges(node) {
    const n = this.nodes;
    const label = n.labels[node], guess = n.predicted[node];
    const badge = (name, value, kind = "") => element("li", { class: kind, title: `${name} ${value}` },
      `${name} `, element("b", {}, value));
    const verdict = label < 0 ? "" : label === guess ? "good" : "bad";
    const shown = [
      badge("label", n.className(label)),
      badge(verdict === "bad" ? "predicted wrongly" : "predicted", n.className(guess), verdict),
      element("li", {}, PARTS[n.part[node]]),
      badge("degree", count(n.degree[node])),
    ];
    if (n.decides) shown.splice(2, 0, badge("step", `${n.steps[node]} of ${n.lastStep}`));
    if (n.priorities) shown.splice(3, 0, badge("priority", n.priorities[node].toFixed(3)));
    if (!Number.isNaN(n.homophily[node])) {
      shown.push(badge("same label around", percent(n.homophily[node], 0)));
    }
    return shown;
  }

  sentences(node) {
    const n = this.nodes, step = n.steps[node], guess = n.predicted[node];
    const name = (c) => `“${clip(n.className(c))}”`;
    const sure = percent(n.probability(node, step, guess), 0);
    if (n.lastStep === 0) return [`The model says ${name(guess)} with ${sure}.`];
    const told = [`${n.told} ${step} of ${n.lastStep} with ${sure} for ${name(guess)}.`];
    const first = n.predictedAt(node, 0), last = n.predictedAt(node, n.lastStep);
    if (step > 0) {
      told.push(first === guess ? "Its own features alone say the same."
        : `Its own features alone say ${name(first)}.`);
    }
    if (step < n.lastStep) {
      told.push(last === guess ? `At full depth, ${n.lastStep}, it would have been the same.`
        : `At full depth, ${n.lastStep}, it would have been ${name(last)}.`);
    }
    if (n.priorities) {
      told.push(`Its priority is higher than that of ${percent(n.priorityRank(node), 0)} of the nodes.`);
    }
    return told;
  }

  // The classes that ever count for this node: those with the highest probability at some step.
  leadingClasses(node) {
    const n = this.nodes;
    const peak = n.classes.map((_, c) => Math.max(
      ...Array.from({ length: n.steps_ }, (_, k) => n.probability(node, k, c))));
    const order = n.classes.map((_, c) => c).sort((a, b) => peak[b] - peak[a]);
    const kept = order.slice(0, MAX_LINES);
    const label = n.labels[node];
    if (label >= 0 && !kept.includes(label)) kept.push(label);
    return kept;
  }

  redraw() {
    if (this.node === undefined) return;
    const classes = this.leadingClasses(this.node);
    const traces = classes.map((c) => this.classLine(this.node, c));
    byId("by-step-legend").replaceChildren(...classes.map((c) => legendEntry(
      clip(this.nodes.className(c)) + (c === this.nodes.labels[this.node] ? " (its label)" : ""),
      categoryColour(c))));
    if (this.nodes.decisions) traces.push(this.decisionBars(this.node));
    draw(byId("by-step"), { data: traces, layout: this.stepLayout(this.node) });
  }

  classLine(node, c) {
    const n = this.nodes, steps = Array.from({ length: n.steps_ }, (_, k) => k);
    return {
      type: "scatter", mode: "lines+markers", x: steps,
      y: steps.map((k) => n.probability(node, k, c)),
      line: { color: categoryColour(c), width: c === n.predicted[node] ? 3 : 1.5 },
      marker: { size: steps.map((k) => (k === n.steps[node] ? 9 : 4)), line: { width: 0 } },
      hovertemplate: `step %{x}: %{y:.1%} ${plain(n.className(c), 22)}<extra></extra>`,
    };
  }

  decisionBars(node) {
    const n = this.nodes;
    const steps = Array.from({ length: n.decisions_ }, (_, k) => k + n.firstDecision);
    const p = steps.map((k) => n.decision(node, k));
    return {
      type: "bar", x: steps, y: p, yaxis: "y2",
      marker: { color: p.map((v) => resolveColour(v > n.epsilon ? "@second" : "@muted")) },
      hovertemplate: `step %{x}: chance to ${n.verb} %{y:.1%}<extra></extra>`,
    };
  }

  stepLayout(node) {
    const n = this.nodes, step = n.steps[node], both = n.decisions !== null;
    const what = `chance to ${n.verb}, threshold ε = ${n.epsilon}`;
    const range = [-0.4, n.lastStep + 0.4];
    const rows = n.lastStep === 0 ? [] : this.marks(step, both);
    return {
      height: byId("by-step").clientHeight,
      margin: { l: 52, r: 10, t: 10, b: 40 },
      shapes: rows, bargap: 0.35,
      annotations: both ? [{ text: what, xref: "paper", yref: "paper", x: 0, y: 0.245,
        xanchor: "left", yanchor: "bottom", showarrow: false, font: { size: 11 } }] : [],
      showlegend: false,
      xaxis: { title: { text: "step k" }, range, dtick: n.lastStep > 12 ? 2 : 1, zeroline: false,
        anchor: both ? "y2" : "y" },
      yaxis: { range: [-0.03, 1.03], tickformat: ".0%", domain: both ? [0.37, 1] : [0, 1] },
      ...(both ? { yaxis2: { range: [0, 1], tickformat: ".0%", tickvals: [0, 0.5, 1],
        domain: [0, 0.24] } } : {}),
    };
  }

  // Where the node stopped, what lies beyond, and the threshold of the decision.
  marks(step, both) {
    const n = this.nodes;
    const line = (rest) => ({ type: "line", layer: "below", ...rest });
    const marks = [line({ x0: step, x1: step, yref: "paper", y0: 0, y1: 1,
      line: { color: "@second", width: 1.5 } })];
    if (step < n.lastStep) {
      marks.push({ type: "rect", layer: "below", x0: step, x1: n.lastStep + 0.4, yref: "paper",
        y0: 0, y1: 1, fillcolor: "@after", line: { width: 0 } });
    }
    if (both) {
      marks.push(line({ xref: "paper", x0: 0, x1: 1, yref: "y2", y0: n.epsilon, y1: n.epsilon,
        line: { color: "@second", width: 1, dash: "dot" } }));
    }
    return marks;
  }

  stepTable(node) {
    const n = this.nodes;
    const head = ["step", ...n.classes.map((name) => clip(name, 60))];
    if (n.decisions) head.push(`P(${n.verb})`);
    if (n.evidence) head.push(...n.evidenceNames);
    const rows = Array.from({ length: n.steps_ }, (_, k) => {
      const cells = [k, ...n.classes.map((_, c) => percent(n.probability(node, k, c)))];
      if (n.decisions) cells.push(n.decidesAt(k) ? percent(n.decision(node, k)) : "–");
      if (n.evidence) {
        cells.push(...n.evidenceNames.map((_, i) => percent(n.evidenceAt(node, k, i), 0)));
      }
      return cells;
    });
    return table(head, rows, n.steps[node]);
  }

  drivers(node) {
    const n = this.nodes;
    if (!n.drivers) return [];
    const size = n.driverNames.length, width = n.measureNames.length;
    const rows = n.driverNames.map((name, i) => {
      const z = i < width ? n.measures[node * width + i] : null;
      const shown = z === null ? name : `${name}, z\u00a0=\u00a0${signed(z, 2)}`;
      return [shown, n.drivers[node * size + i]];
    });
    if (rows.length > MOST_DRIVERS) {
      rows.sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).splice(MOST_DRIVERS);
    }
    return [element("h4", {}, "What drives its priority"),
      element("p", { class: "lead" }, "Gradient × input of the weight controller: what each input " +
        "adds to the priority or takes from it. z is in standard deviations from the mean node."),
      barTable(rows, 3)];
  }

  features(node) {
    const n = this.nodes, size = n.featuresPerNode;
    if (!n.features) return [];
    const rows = [];
    for (let i = node * size; i < (node + 1) * size; i += 1) {
      if (n.featureScores[i] !== 0) rows.push([n.featureName(n.features[i]), n.featureScores[i]]);
    }
    const guess = clip(n.className(n.predicted[node]));
    const text = rows.length === 0 ? "It has no features of its own."
      : `Its own features that speak most for (+) or against (−) “${guess}”, before propagation.`;
    return [element("h4", {}, "Features that matter"), element("p", { class: "lead" }, text),
      ...(rows.length ? [barTable(rows, 3)] : [])];
  }

  showNeighbours(node) {
    const n = this.nodes, all = n.neighbours(node);
    const items = Array.from(all.subarray(0, MAX_NEIGHBOURS), (other) => {
      const swatch = element("span", { class: "swatch" });
      swatch.style.background = n.labels[other] < 0 ? resolveColour("@muted")
        : categoryColour(n.labels[other]);
      const name = `${n.id(other)}, ${n.className(n.labels[other])}`;
      const button = element("button", { type: "button", title: clip(name, 200) }, swatch,
        element("span", {}, clip(n.id(other))));
      button.addEventListener("click", () => {
        this.choose(other);
        // The button is gone; keys go on from the story of its node.
        byId("story").focus({ preventScroll: true });
      });
      return element("li", {}, button);
    });
    const hidden = all.length - items.length;
    if (hidden > 0) items.push(element("li", {}, `and ${count(hidden)} more`));
    if (all.length === 0) items.push(element("li", {}, "none"));
    byId("neighbours").replaceChildren(...items);
    byId("neighbours-title").textContent = `Neighbours (${count(all.length)}), by their label's colour`;
  }
}

// Numbers with bars to the left and right of a middle line.
function barTable(rows, digits) {
  const most = Math.max(...rows.map(([, value]) => Math.abs(value)), 1e-12);
  const body = rows.map(([name, value]) => {
    const bar = element("i", { class: value < 0 ? "minus" : "plus" });
    const length = (50 * Math.abs(value)) / most;
    bar.style.width = `${length}%`;
    bar.style.left = value < 0 ? `${50 - length}%` : "50%";
    return element("tr", {}, element("th", { scope: "row" }, name),
      element("td", {}, signed(value, digits)),
      element("td", { "aria-hidden": "true" }, element("div", { class: "bar" }, bar)));
  });
  return element("table", { class: "bars" }, element("tbody", {}, ...body));
}
