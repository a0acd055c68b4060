// The nodes: packed columns become typed arrays, edges become lists of neighbours.

const ARRAYS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i16: Int16Array,
  f32: Float32Array };

function unpack(packed) {
  if (packed === null) return null;
  const text = atob(packed.data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  return new ARRAYS[packed.type](bytes.buffer);
}

class Nodes {
  constructor(data) {
    Object.assign(this, data);
    for (const [name, value] of Object.entries(data)) {
      if (value !== null && typeof value === "object" && "type" in value) this[name] = unpack(value);
    }
    this.full = this.probabilities instanceof Uint8Array ? 255 : 65535;
    this.decisionFull = this.decisions instanceof Uint8Array ? 255 : 65535;
    this.steps_ = this.lastStep + 1;
    this.decisions_ = this.decisions === null ? 0 : this.decisions.length / this.nodes;
    this.linkNeighbours();
  }

  linkNeighbours() {
    const half = this.edges.length / 2;
    this.start_ = new Uint32Array(this.nodes + 1);
    for (const node of this.edges) this.start_[node + 1] += 1;
    for (let i = 0; i < this.nodes; i += 1) this.start_[i + 1] += this.start_[i];
    this.linked = new Uint32Array(this.edges.length);
    const next = this.start_.slice();
    for (let e = 0; e < half; e += 1) {
      const [a, b] = [this.edges[e], this.edges[half + e]];
      this.linked[next[a]++] = b;
      this.linked[next[b]++] = a;
    }
  }

  id(node) { return this.ids === null ? String(node) : this.ids[node]; }

  className(index) { return index < 0 ? "no label" : this.classes[index]; }

  featureName(index) {
    return this.featureNames === null ? `feature ${index}` : clip(this.featureNames[index], 60);
  }

  neighbours(node) { return this.linked.subarray(this.start_[node], this.start_[node + 1]); }

  edge(e) { return [this.edges[e], this.edges[this.edges.length / 2 + e]]; }

  probability(node, step, index) {
    return this.probabilities[(node * this.steps_ + step) * this.classes.length + index] / this.full;
  }

  predictedAt(node, step) {
    if (step === this.steps[node]) return this.predicted[node];
    let best = 0;
    for (let c = 1; c < this.classes.length; c += 1) {
      if (this.probability(node, step, c) > this.probability(node, step, best)) best = c;
    }
    return best;
  }

  decision(node, step) {
    return this.decisions[node * this.decisions_ + step - this.firstDecision] / this.decisionFull;
  }

  // Whether something is decided at a step.
  decidesAt(step) {
    return step >= this.firstDecision && step < this.firstDecision + this.decisions_;
  }

  // What comparing controllers see of a node at a step, from 0 to 1.
  evidenceAt(node, step, index) {
    return this.evidence[(node * this.steps_ + step) * this.evidenceNames.length + index] / 255;
  }

  // Share of the nodes with a lower priority.
  priorityRank(node) {
    this.sorted_ ??= this.priorities.slice().sort();
    let below = 0;
    while (below < this.nodes && this.sorted_[below] < this.priorities[node]) below += 1;
    return below / this.nodes;
  }

  // The node with this very id, or -1.
  find(text) {
    if (this.ids !== null) return this.ids.indexOf(text);
    return /^\d+$/.test(text) && Number(text) < this.nodes ? Number(text) : -1;
  }

  // Nodes whose id is, begins with, or holds the text; the closest first.
  search(text, most = 8) {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return [];
    const exact = this.find(text.trim());
    const begins = [], holds = [];
    for (let node = 0; node < this.nodes && begins.length < most; node += 1) {
      const at = this.id(node).toLowerCase().indexOf(wanted);
      if (at === 0) begins.push(node);
      else if (at > 0 && holds.length < most) holds.push(node);
    }
    return [...new Set([...(exact < 0 ? [] : [exact]), ...begins, ...holds])].slice(0, most);
  }
}
