// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
// The page is complete without this script: each figure is there as a still picture, which is also what is
// printed. If the browser allows it, figures become interactive one by one as they approach the screen.
(() => {
"use strict";
const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");
const coarse = matchMedia("(pointer: coarse)").matches;
const live = new Map();
const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : dark.matches;

const button = document.getElementById("theme");
function themed() {
  button.textContent = isDark() ? "Light" : "Dark";
  button.setAttribute("aria-label", isDark() ? "Use light colours" : "Use dark colours");
  for (const plot of live.values()) plot.recolour();
}
button.hidden = false;
button.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; themed(); });
dark.addEventListener("change", themed);
themed();

// A link into a closed section opens it.
function unfold() {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  const closed = [...target.querySelectorAll(":scope > details.closed")];
  for (let e = target.closest("details"); e; e = e.parentElement.closest("details")) closed.push(e);
  for (const details of closed) details.open = true;
  if (closed.length) target.scrollIntoView();
}
addEventListener("hashchange", unfold);
unfold();

const links = new Map([...document.querySelectorAll("nav a")].map(a => [a.hash.slice(1), a]));
const seen = new IntersectionObserver(entries => {
  for (const entry of entries) if (entry.isIntersecting) {
    for (const link of links.values()) link.removeAttribute("aria-current");
    links.get(entry.target.id)?.setAttribute("aria-current", "true");
  }
}, {rootMargin: "-20% 0px -70% 0px"});
for (const section of document.querySelectorAll("main > section")) seen.observe(section);

const packed = document.getElementById("plotly");
if (!packed || !window.DecompressionStream) return;
let page;

// Plotly and the figures' data are compressed; unpacking them in the browser makes the file less than half as
// large.
async function unpacked(element) {
  const bytes = Uint8Array.from(atob(element.textContent), c => c.charCodeAt(0));
  element.remove();
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

async function unpack() {
  page = JSON.parse(await unpacked(document.getElementById("figures")));
  for (const link of document.querySelectorAll("[data-csv]")) {
    link.href = URL.createObjectURL(new Blob([page.csv[link.dataset.csv]], {type: "text/csv"}));
    link.parentElement.hidden = false;
  }
  const script = document.createElement("script");
  script.textContent = await unpacked(packed);
  document.head.append(script);
}

const clone = value => JSON.parse(JSON.stringify(value));
function inTheme(value, key = "") {
  if (Array.isArray(value)) return value.map(v => inTheme(v, key));
  if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, inTheme(v, k)]));
  return isDark() && /color$/.test(key) ? page.dark[value] ?? value : value;
}

// The finest ticks whose labels do not overlap on an axis of this many pixels.
function choose(levels, range, log, pixels, room) {
  const place = v => (((log ? Math.log10(v) : v) - range[0]) / (range[1] - range[0])) * pixels;
  const apart = kept => kept.every(([p, , t], k) => !k || p - kept[k - 1][0] >= (room(t) + room(kept[k - 1][2])) / 2);
  const shown = levels.map(({values, labels}) => values.map((v, k) => [place(v), v, labels[k]]).filter(([p]) => p > -.5 && p < pixels + .5));
  const fitting = shown.filter(apart);
  let best = fitting.at(-1) ?? shown[0];
  if (shown.length > 1 && (!fitting.length || best.length < 2)) {
    const thinned = shown.flatMap(kept => kept.slice(1).map((_, k) => kept.filter((_, j) => j % (k + 1) === 0)));
    best = thinned.find(apart) ?? best;
  }
  return {tickvals: best.map(k => k[1]), ticktext: best.map(k => k[2])};
}

class Plot {
  constructor(box) {
    this.box = box;
    this.figure = box.closest("figure");
    const spec = this.spec = clone(page.figures[box.dataset.figure]);
    Object.assign(this, {data: spec.data, layout: spec.layout, config: spec.config, ticks: spec.ticks, entries: spec.legend});
    this.home = ["xaxis", "yaxis"].map(axis => [...this.layout[axis].range]);
    if (coarse) {  // A finger on a figure scrolls the page; buttons zoom.
      this.layout.dragmode = false;
      this.config.scrollZoom = false;
    }
  }

  async draw() {
    this.figure.classList.add("live");
    this.fit();
    await this.plot();
    this.addLegend();
    this.addTools();
    this.listen();
    performance.mark("hockney-live");
  }

  get drawn() { return [this.data, this.layout]; }

  async plot() {
    await Plotly.newPlot(this.box, ...this.drawn.map(v => inTheme(v)), this.config);
    this.box.on("plotly_relayout", change => this.relaid(change));
  }

  // Ticks for the layout's ranges and the size on the screen.
  fit() {
    const before = JSON.stringify([this.layout.xaxis.tickvals, this.layout.yaxis.tickvals]);
    for (const [letter, pixels, room] of [["x", this.box.clientWidth - 85, t => 7 * t.length + 14], ["y", this.box.clientHeight - 80, () => 19]]) {
      const axis = this.layout[letter + "axis"];
      Object.assign(axis, choose(this.ticks[letter], axis.range, axis.type === "log", pixels, room));
    }
    return before !== JSON.stringify([this.layout.xaxis.tickvals, this.layout.yaxis.tickvals]);
  }

  recolour() { return Plotly.react(this.box, ...this.drawn.map(v => inTheme(v)), this.config); }

  get zoomed() { return ["xaxis", "yaxis"].some((axis, k) => this.layout[axis].range.some((v, j) => Math.abs(v - this.home[k][j]) > 1e-9)); }


  relaid(change) { if (Object.keys(change).some(k => /axis\.(range|autorange)/.test(k))) this.moved(); }

  moved() {
    for (const axis of ["xaxis", "yaxis"]) this.layout[axis].range = [...this.box._fullLayout[axis].range];
    this.reset.hidden = !this.zoomed;
    if (this.fit()) this.recolour();
  }

  go(ranges) {
    return Plotly.relayout(this.box, {"xaxis.range": ranges[0], "yaxis.range": ranges[1]});
  }

  back() { return this.go(this.home); }

  zoom(factor, shift = [0, 0]) {
    this.go(["xaxis", "yaxis"].map((axis, k) => {
      const [low, high] = this.layout[axis].range, [first, last] = this.home[k];
      const half = Math.min((high - low) * factor, last - first) / 2;
      const middle = Math.min(Math.max((low + high) / 2 + shift[k] * (high - low), first + half), last - half);
      return [middle - half, middle + half];
    }));
  }

  listen() {
    this.box.addEventListener("keydown", event => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey && this.key(event)) event.preventDefault();
    });
    // The wheel scrolls the page until the reader has selected the figure (click, Tab) or holds Ctrl.
    this.box.addEventListener("wheel", event => {
      if (!event.ctrlKey && document.activeElement !== this.box) event.stopPropagation();
    }, {capture: true, passive: true});
    this.box.addEventListener("mousedown", () => this.box.focus({preventScroll: true}), true);
    new ResizeObserver(() => {
      if (!this.box.clientWidth || this.box.clientWidth === this.width) return;
      this.width = this.box.clientWidth;
      this.fit();
      this.recolour().then(() => Plotly.Plots.resize(this.box));
    }).observe(this.box);
    this.width = this.box.clientWidth;
  }

  // Whether the key was handled here.
  key(event) {
    const keys = {"+": [.7], "=": [.7], "-": [1 / .7], ArrowLeft: [1, [-.15, 0]], ArrowRight: [1, [.15, 0]], ArrowUp: [1, [0, .15]], ArrowDown: [1, [0, -.15]]};
    if (event.key === "0" || event.key === "Escape") this.back();
    else if (keys[event.key] && (!event.key.startsWith("Arrow") || this.zoomed)) this.zoom(...keys[event.key]);
    else return false;
    return true;
  }

  get tools() { return this.figure.querySelector(".tools"); }

  addTool(label, text, act, kind = "") {
    const b = document.createElement("button");
    Object.assign(b, {type: "button", textContent: text, title: label, className: kind});
    b.setAttribute("aria-label", label);
    b.addEventListener("click", act);
    this.tools.append(b);
    return b;
  }

  addTools() {
    this.reset = this.addTool("Show all", "reset", () => this.back());
    this.reset.hidden = true;
    this.addTool("Zoom out", "−", () => this.zoom(1 / .7), "zoom");
    this.addTool("Zoom in", "+", () => this.zoom(.7), "zoom");
    this.tools.hidden = false;
  }

  toggle(k, on) { for (const trace of this.entries[k].traces) this.data[trace].visible = on; }

  addLegend() {
    const list = this.figure.querySelector(".legend");
    // In figures side by side, lines belong to the points of their colour.
    const small = this.figure.closest(".multiples");
    const shown = this.entries.map((entry, k) => [entry, k]).filter(([entry]) => !small || entry.kind !== "line");
    if (shown.length < 2) return;
    shown.forEach(([entry, k]) => {
      const item = document.createElement("li"), b = document.createElement("button");
      b.type = "button";
      b.setAttribute("aria-pressed", "true");
      b.append(sign(entry), entry.name);
      b.addEventListener("click", () => {
        const on = b.getAttribute("aria-pressed") !== "true";
        b.setAttribute("aria-pressed", on);
        this.toggle(k, on);
        if (small) this.entries.forEach((other, j) => { if (other.kind === "line" && other.slot === entry.slot) this.toggle(j, on); });
        this.recolour();
      });
      item.append(b);
      list.append(item);
    });
    list.hidden = false;
  }
}

// A series' symbol in the legend, coloured by a variable so that it follows the theme.
function sign(entry) {
  const shapes = {
    circle: "M13 7a4 4 0 1 1-8 0a4 4 0 1 1 8 0z", square: "M5.5 3.5h7v7h-7z", diamond: "M9 2.4l4.6 4.6l-4.6 4.6l-4.6-4.6z",
    "triangle-up": "M9 2.6l4.6 8h-9.2z", "triangle-down": "M9 11.4l4.6-8h-9.2z", cross: "M7.5 3h3v2.5h2.5v3h-2.5v2.5h-3v-2.5h-2.5v-3h2.5z",
    x: "M5 4.5l1.5-1.5l2.5 2.5l2.5-2.5l1.5 1.5l-2.5 2.5l2.5 2.5l-1.5 1.5l-2.5-2.5l-2.5 2.5l-1.5-1.5l2.5-2.5z",
    star: "M9 2l1.5 3.4l3.6.4l-2.7 2.5l.8 3.7l-3.2-1.9l-3.2 1.9l.8-3.7l-2.7-2.5l3.6-.4z",
  };
  const dashes = {solid: "", dash: "5 2.5", dot: "1.5 2.5", dashdot: "5 2 1.5 2"};
  const make = (name, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [k, v] of Object.entries(attributes)) element.setAttribute(k, v);
    return element;
  };
  const svg = make("svg", {width: 18, height: 14, viewBox: "0 0 18 14", "aria-hidden": "true"});
  const colour = `var(--c${entry.slot + 1})`;
  if (entry.kind !== "points") svg.append(make("path", {d: "M0 7h18", stroke: colour, "stroke-width": 2, "stroke-dasharray": dashes[entry.dash], fill: "none"}));
  if (entry.kind !== "line") svg.append(make("path", {d: shapes[entry.symbol], stroke: colour, "stroke-width": entry.hollow ? 1.5 : 0, fill: entry.hollow ? "none" : colour}));
  return svg;
}

async function start() {
  await unpack();
  const folded = box => box.closest("details:not([open])");
  const waiting = new Set([...document.querySelectorAll(".plot")].filter(box => !folded(box)));
  const draw = async box => {
    if (!waiting.delete(box)) return;
    near.unobserve(box.closest("figure"));
    const plot = new Plot(box);
    live.set(box, plot);
    await plot.draw();
  };
  const near = new IntersectionObserver(entries => {
    for (const entry of entries) if (entry.isIntersecting) draw(entry.target.querySelector(".plot"));
  }, {rootMargin: "500px"});
  for (const box of waiting) near.observe(box.closest("figure"));
  // Activates the remaining figures while the reader reads.
  const idle = window.requestIdleCallback ?? (act => setTimeout(act, 200));
  const next = () => { const box = [...waiting][0]; if (box) draw(box).then(() => idle(next)); else performance.mark("hockney-all-live"); };
  idle(next);
  for (const details of document.querySelectorAll("details.closed")) details.addEventListener("toggle", () => {
    for (const box of details.querySelectorAll(".plot")) if (!live.has(box)) { waiting.add(box); draw(box); }
  });
}
start();
})();
