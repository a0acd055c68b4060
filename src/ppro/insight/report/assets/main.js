// Start: the summary at once, before the plotting library is read; then the explorer and charts.

const report = JSON.parse(byId("data").textContent);
startTheme();
showSummary(report.summary);
showMeasured(report.measured);

document.addEventListener("DOMContentLoaded", () => {
  const nodes = new Nodes(report.explorer);
  byId("explorer-lead").textContent = nodes.lastStep > 0
    ? "Choose a node to see how its prediction changes as it propagates, where it stopped and why."
    : "Choose a node to see what the model says of it.";
  new Explorer(nodes);
  showCharts(report.charts, nodes.classes);
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
});
