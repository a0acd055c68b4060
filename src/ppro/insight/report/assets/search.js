// The search field: a list of matches that arrow keys walk through.

function startSearch(nodes, choose) {
  const field = byId("search"), list = byId("matches");
  let found = [], active = 0;

  const close = () => {
    list.hidden = true;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  };
  const mark = () => {
    [...list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === active)));
    field.setAttribute("aria-activedescendant", `match-${active}`);
  };
  const pick = (node) => {
    close();
    field.value = nodes.id(node);
    choose(node);
  };
  const option = (node, i) => {
    const item = element("li", { role: "option", id: `match-${i}` },
      `${clip(nodes.id(node), 80)} · ${clip(nodes.className(nodes.labels[node]))}`);
    // Pressing the mouse would take the focus from the field and close the list.
    item.addEventListener("mousedown", (event) => { event.preventDefault(); pick(node); });
    return item;
  };
  const open = () => {
    found = nodes.search(field.value);
    active = 0;
    list.replaceChildren(...found.map(option));
    if (found.length === 0) { close(); return; }
    list.hidden = false;
    field.setAttribute("aria-expanded", "true");
    mark();
  };
  const enter = () => {
    if (list.hidden) open();
    if (found.length) pick(found[active]);
    else byId("status").textContent = `No node has an id like “${clip(field.value, 60)}”.`;
  };

  field.placeholder = `for example ${clip(nodes.id(nodes.start), 24)}`;
  field.addEventListener("input", open);
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
    if (!["ArrowDown", "ArrowUp"].includes(event.key) || list.hidden) return;
    event.preventDefault();
    const by = event.key === "ArrowDown" ? 1 : found.length - 1;
    active = (active + by) % found.length;
    mark();
  });
  byId("tools").addEventListener("submit", (event) => { event.preventDefault(); enter(); });
}
