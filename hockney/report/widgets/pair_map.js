// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
// A map of all pairs of nodes: a cell for each pair, coloured by its time relative to the median pair. The
// page is complete without this script: a table shows what is slow.
(() => {
"use strict";
const source = document.getElementById("widgets");
if (!source || !window.ResizeObserver) return;

// Colours by ratio; between two stops they are mixed on a log scale.
const STOPS = [[.5, "--c1"], [.8, "--c6"], [.95, "--grid"], [1.05, "--grid"], [1.15, "--c5"], [1.5, "--c2"], [3, "--c8"]];
const SCALE_TICKS = [.5, .8, 1, 1.15, 1.5, 3];
const FEWEST_PIXELS = 12, MOST_CELL = 34, LABEL = 11;

const el = (name, attributes = {}, ...children) => {
  const element = document.createElement(name);
  for (const [k, v] of Object.entries(attributes)) element.setAttribute(k, v);
  element.append(...children);
  return element;
};

class PairMap {
  constructor(box, spec) {
    this.spec = spec;
    this.count = spec.nodes.length;
    this.tables = spec.measures.map(m => m.rows.map(row => Array.from({length: this.count}, (_, k) => {
      const digits = row.slice(2 * k, 2 * k + 2);
      return digits === "--" ? null : parseInt(digits, 36) / 100;
    })));
    this.order = spec.nodes.map((_, k) => k);
    this.shown = 0;
    this.live = box.querySelector(".live");
    this.build();
    box.classList.add("on");
    this.live.hidden = false;
    new ResizeObserver(() => { if (this.live.clientWidth !== this.width) this.draw(); }).observe(this.live);
    new MutationObserver(() => this.draw()).observe(document.documentElement, {attributes: true});
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    this.draw();
  }

  build() {
    const choices = el("div", {class: "choices", role: "group", "aria-label": "Measure"});
    this.spec.measures.forEach((measure, k) => {
      const button = el("button", {type: "button", "aria-pressed": k === 0}, measure.title);
      button.addEventListener("click", () => {
        this.shown = k;
        [...choices.children].forEach((each, number) => each.setAttribute("aria-pressed", number === k));
        this.draw();
      });
      choices.append(button);
    });
    const sorted = el("button", {type: "button", "aria-pressed": false}, "slowest first");
    sorted.addEventListener("click", () => {
      const on = sorted.getAttribute("aria-pressed") !== "true";
      sorted.setAttribute("aria-pressed", on);
      this.order = this.spec.nodes.map((_, k) => k);
      if (on) {
        const medians = this.order.map(k => this.median(k));
        this.order.sort((a, b) => medians[b] - medians[a]);
      }
      this.draw();
    });
    const order = el("div", {class: "choices", role: "group", "aria-label": "Order"}, sorted);
    this.canvas = el("canvas", {role: "img"});
    this.scale = el("canvas", {role: "img", "aria-label": "Colours by time relative to the median pair"});
    this.said = el("p", {class: "said"});
    this.canvas.addEventListener("pointermove", event => this.tell(event));
    this.canvas.addEventListener("pointerleave", () => this.tell(null));
    this.live.append(el("div", {class: "title map-choices"}, choices, order), this.canvas, this.scale, this.said);
  }

  // The median time of a node's pairs, in both directions.
  median(node) {
    const table = this.tables[this.shown];
    const values = [...table[node], ...table.map(row => row[node])].filter(v => v !== null).sort((a, b) => a - b);
    return values.length ? values[values.length >> 1] : 0;
  }

  colours() {
    const style = getComputedStyle(document.documentElement), probe = el("canvas").getContext("2d");
    return STOPS.map(([ratio, name]) => {
      probe.fillStyle = style.getPropertyValue(name).trim() || "#888";
      const hex = probe.fillStyle;
      return [Math.log(ratio), [1, 3, 5].map(k => parseInt(hex.slice(k, k + 2), 16))];
    });
  }

  colour(stops, ratio) {
    const x = Math.log(Math.max(ratio, .01)), above = stops.findIndex(([at]) => at >= x);
    if (above <= 0) return stops.at(above).at(1);
    const [[x0, c0], [x1, c1]] = [stops[above - 1], stops[above]], f = (x - x0) / (x1 - x0);
    return c0.map((v, k) => Math.round(v + f * (c1[k] - v)));
  }

  prepare(canvas, width, height) {
    const density = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * density);
    canvas.height = Math.round(height * density);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const context = canvas.getContext("2d");
    context.scale(density, density);
    context.font = `${LABEL}px system-ui, sans-serif`;
    return context;
  }

  draw() {
    this.width = this.live.clientWidth;
    if (!this.width) return;
    const {nodes, measures} = this.spec, n = this.count, table = this.tables[this.shown], stops = this.colours();
    const muted = getComputedStyle(document.documentElement).getPropertyValue("--muted").trim();
    const measured = el("canvas").getContext("2d");
    measured.font = `${LABEL}px system-ui, sans-serif`;
    this.left = Math.min(.3 * this.width, 8 + Math.max(...nodes.map(name => measured.measureText(name).width)));
    this.cell = Math.min(MOST_CELL, (this.width - this.left) / n);
    const c = this.cell, step = Math.max(1, Math.ceil(FEWEST_PIXELS / c)), gap = c > 6 ? 1 : 0;
    this.top = Math.max(0, (LABEL - c) / 2 + 1);
    const context = this.prepare(this.canvas, this.left + n * c, 2 * this.top + n * c);
    this.canvas.setAttribute("aria-label", `${measures[this.shown].title}: times of all pairs of ${n} nodes`);
    context.textAlign = "right";
    context.textBaseline = "middle";
    const slow = new Set(this.spec.slow_nodes);
    const named = this.order.flatMap((node, row) => slow.has(nodes[node]) ? [row] : []);
    this.order.forEach((from, row) => {
      const isNamed = slow.has(nodes[from]);
      if (isNamed || row % step === 0 && named.every(other => Math.abs(other - row) >= step)) {
        context.fillStyle = isNamed ? `rgb(${stops.at(-2)[1]})` : muted;
        context.fillText(nodes[from], this.left - 4, this.top + (row + .5) * c);
      }
      this.order.forEach((to, column) => {
        const ratio = table[from][to];
        if (ratio === null) return;
        context.fillStyle = `rgb(${this.colour(stops, ratio)})`;
        context.fillRect(this.left + column * c, this.top + row * c, c - gap, c - gap);
      });
    });
    this.drawScale(stops, muted);
    this.tell(null);
  }

  drawScale(stops, muted) {
    const width = Math.min(360, this.width - 20), low = stops[0][0], high = stops.at(-1)[0];
    const context = this.prepare(this.scale, width + 30, 30);
    for (let x = 0; x < width; ++x) {
      context.fillStyle = `rgb(${this.colour(stops, Math.exp(low + (high - low) * x / width))})`;
      context.fillRect(15 + x, 2, 1.5, 10);
    }
    context.fillStyle = muted;
    context.textAlign = "center";
    for (const tick of SCALE_TICKS) context.fillText(`${tick}`, 15 + width * (Math.log(tick) - low) / (high - low), 25);
  }

  tell(event) {
    const {nodes} = this.spec;
    const column = event ? Math.floor((event.offsetX - this.left) / this.cell) : -1;
    const row = event ? Math.floor((event.offsetY - this.top) / this.cell) : -1;
    const inside = column >= 0 && column < this.count && row >= 0 && row < this.count;
    if (!inside) {
      this.said.textContent = "Rows: from this node; columns: to a node, in the same order. Point at a cell to read it.";
      return;
    }
    const [from, to] = [this.order[row], this.order[column]], ratio = this.tables[this.shown][from][to];
    this.said.textContent = `${nodes[from]} to ${nodes[to]}: ${ratio === null ? "not measured" : `${ratio.toFixed(2)} times the median pair's time`}`;
  }
}

const specs = JSON.parse(source.textContent);
for (const box of document.querySelectorAll("[data-widget=pair_map]")) new PairMap(box, specs[box.id]);
})();
