// Everything but the explorer: tiles, runs, charts, settings.

function showSummary(summary) {
  document.title = `${clip(summary.dataset)}, ${summary.method}: PPro report`;
  byId("title").textContent = summary.dataset;
  byId("lead").textContent = `${summary.method}. Scores are over all runs; the rest of the page ` +
    `shows ${summary.which}.`;
  byId("findings").append(...summary.findings.map((line) => element("li", {}, line)));
  byId("findings").hidden = summary.findings.length === 0;
  byId("priorities-lead").textContent = summary.priorities.join(" ");
  byId("priorities-lead").hidden = summary.priorities.length === 0;
  byId("tiles").append(...summary.tiles.map((tile) => element("div", {},
    element("dt", {}, tile.name), element("dd", {}, tile.value), element("dd", {}, tile.below))));
  byId("runs").append(table(summary.runs.head, summary.runs.rows, summary.run));
  byId("settings-list").append(...summary.settings.map(([key, value]) =>
    element("div", {}, element("dt", {}, key), element("dd", {}, value))));
  byId("versions").textContent = "Computed with " +
    Object.entries(summary.versions).map((pair) => pair.join(" ")).join(", ") + ".";
}

// Every metric, and how well each class is found; runs of older versions have neither.
function showMeasured(measured) {
  for (const name of ["metrics", "classes"]) {
    byId(name).hidden = measured[name] === null;
    if (measured[name]) byId(name).append(table(measured[name].head, measured[name].rows));
  }
  byId("classes-lead").textContent = `${measured.told}, by class.`;
}

function showCharts(charts, classes) {
  const learned = byId("learned-charts");
  if (charts.accuracyByStep) {
    addChart(learned, "Where should nodes stop?", charts.accuracyByStep,
      "Test accuracy had every node stopped at step k, and with the steps they took.");
  }
  if (charts.steps) addChart(learned, "Steps", charts.steps, "All nodes, by the step they took.");
  if (charts.priorities) {
    addChart(learned, "Priorities", charts.priorities, "All nodes, by their weight in the loss.");
  }
  for (const relation of charts.relations) {
    const rho = relation.rho === null ? "No correlation: one of them is constant"
      : `Spearman ρ = ${signed(relation.rho, 2)}`;
    addChart(learned, relation.title, relation.figure, `${rho}. Colour: share of each column's nodes; line: their mean.`);
  }
  byId("learned-lead").textContent = charts.steps || charts.priorities
    ? "What the controllers decided over the whole graph, and what it goes along with."
    : "This run has no controllers: every node took the same steps and weighed the same.";
  for (const curve of charts.curves) addChart(byId("training-charts"), curve.title, curve.figure);
  const confusion = addChart(byId("confusion-chart"), "Labels and predictions", charts.confusion);
  if (classes.some((name, i) => name !== String(i))) {
    confusion.lastChild.before(numberedClasses(classes));
  }
}

// Where there is no room for names beside the rows: what the numbers stand for.
function numberedClasses(classes) {
  return element("ul", { class: "legend narrow-only", "aria-label": "Classes by number" },
    ...classes.map((name, i) => element("li", { title: clip(name, 200) }, element("b", {}, i),
      element("span", {}, clip(name)))));
}
