// Everything but the explorer: tiles, runs, charts, settings.

const STRATEGIES = { l2b: "L2B (learn to break)", l2u: "L2U (learn to update)",
  none: "full depth for every node" };

function showSummary(summary) {
  const what = summary.model === "ppro"
    ? `${STRATEGIES[summary.strategy]} on ${summary.backbone.toUpperCase()}`
    : summary.model.toUpperCase();
  document.title = `${clip(summary.dataset)}, ${what}: PPro report`;
  byId("title").textContent = summary.dataset;
  const best = summary.runs.every((run) => run.val <= summary.runs[summary.run].val);
  const which = best ? ", the one with the best validation accuracy" : "";
  byId("lead").textContent =
    `${what}. Accuracies are over all runs; the rest of the page shows run ${summary.run}${which}.`;
  byId("tiles").append(...summary.tiles.map((tile) => element("div", {},
    element("dt", {}, tile.name), element("dd", {}, tile.value), element("dd", {}, tile.below))));
  byId("runs").append(table(["run", "seed", "validation %", "test %"], summary.runs.map((run) =>
    [run.run, run.seed, decimals(run.val), decimals(run.test)]), summary.run));
  byId("settings-list").append(...summary.settings.map(([key, value]) =>
    element("div", {}, element("dt", {}, key), element("dd", {}, value))));
  byId("versions").textContent = "Computed with " +
    Object.entries(summary.versions).map((pair) => pair.join(" ")).join(", ") + ".";
}

const decimals = (value) => (value === null ? "–" : value.toFixed(2));

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
