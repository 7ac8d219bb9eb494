// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
// Sliders for the model of efficiency (efficiency_model.js), and its charts. The page is complete without
// this script: a table shows the results for the initial values.
(() => {
"use strict";
const g = {...hockney.units, ...hockney.efficiency};
const source = document.getElementById("widgets");
if (!source || !window.ResizeObserver) return;
const LEVELS = [.1, .2, .3, .4, .5, .6, .7, .8, .9], NAMED = [.5, .8, .9];
const DASHES = ["", "6 3", "2 3", "7 3 2 3", "10 4"];
// With fewer ranks a plane is drawn as a table: one row for each number; with more as lines.
const ROWS = 40;

const el = (name, attributes = {}, ...children) => {
  const element = document.createElement(name);
  for (const [k, v] of Object.entries(attributes)) element.setAttribute(k, v);
  element.append(...children);
  return element;
};
const plural = n => `${n} rank${n === 1 ? "" : "s"}`;
const round = (v, digits) => Number(v.toPrecision(digits));
const distinct = values => [...new Set(values)].sort((a, b) => a - b);
const upTo = (count, of) => Array.from({length: count + 1}, (_, k) => of(k / count));

// The values of each slider: more of them where a small step matters.
const SCALES = {
  work: ([low, high]) => distinct(upTo(40 * Math.max(1, Math.ceil(Math.log10(high / low))), f => round(low * (high / low) ** f, 3))),
  bytes: ([low, high]) => distinct([low, ...upTo(300, f => Math.round(round(Math.max(1, low) * (high / Math.max(1, low)) ** f, 3))), high]),
  serial: ([low, high]) => distinct(upTo(200, f => round(low + (high - low) * f * f, 4))),
  ranks: ([low, high]) => distinct([low, ...g.counts(high).filter(n => n <= 64), ...upTo(200, f => Math.round(low * (high / low) ** f)), high].filter(n => n >= low)),
};
// Larger inputs are rejected, as on the command line: they are out of range, and no chart has an axis for
// them.
const MOST = {seconds: 30 * 86400, bytes: 2 ** 50};
const INPUTS = [
  {key: "work", label: "Work T", say: g.seconds, read: g.readSeconds, fits: v => v > 0 && v <= MOST.seconds, hint: "a time above 0, for example 10ms", aside: "on one rank, between two exchanges"},
  {key: "bytes", label: "Message length L", say: g.size, read: g.readBytes, fits: v => v >= 0 && v <= MOST.bytes, hint: "a size, for example 40kB or 1000words", whole: true},
  {key: "serial", label: "Serial fraction s", say: g.percent, read: g.readFraction, fits: v => v >= 0 && v <= 1, hint: "0% to 100%"},
  {key: "ranks", label: "Ranks np", say: String, read: g.readCount, fits: v => v >= 1 && v <= 1e7, hint: "a whole number from 1", whole: true},
];

class Explorer {
  constructor(box, spec) {
    this.spec = spec;
    this.ends = {work: spec.work_s, bytes: spec.bytes, serial: spec.serial, ranks: spec.ranks};
    this.state = Object.fromEntries(INPUTS.map(({key}) => [key, this.ends[key][2]]));
    this.machine = spec.machines[0];
    this.larger = false;
    this.over = "bytes";
    this.live = box.querySelector(".live");
    this.build(box.id);
    box.classList.add("on");
    this.live.hidden = false;
    new ResizeObserver(() => { if (this.live.clientWidth !== this.width) this.update(); }).observe(this.live);
    this.update();
  }

  build(id) {
    const controls = el("div", {class: "controls"});
    const select = el("select", {id: `${id}-machine`}, ...this.spec.machines.map((m, k) => el("option", {value: k}, m.title)));
    select.addEventListener("change", () => { this.machine = this.spec.machines[select.value]; this.changed(); });
    this.note = el("p", {class: "under"});
    controls.append(el("div", {class: "control"}, el("label", {for: select.id}, "Machine"), select, this.note));
    this.inputs = INPUTS.map(input => this.control(id, input, controls));
    this.inputs.push(this.kind(id, controls));
    this.big = Object.fromEntries(["efficiency", "speed-up", "communication"].map(name => [name, el("dd", {"data-answer": name})]));
    this.words = el("p", {"data-answer": "words"});
    this.limits = el("p", {class: "note", hidden: ""});
    this.facts = {};
    const facts = el("dl", {class: "facts"});
    for (const [name, title] of [["exchange", "One exchange"], ["break-even", "Break-even work"], ["50", "Work for 50%"], ["80", "Work for 80%"], ["90", "Work for 90%"], ["best", "Best number of ranks"]]) {
      this.facts[name] = el("dd", {"data-answer": name});
      facts.append(el("dt", {}, title), this.facts[name]);
    }
    const big = el("dl", {class: "big"}, ...Object.entries(this.big).map(([name, dd]) => el("div", {}, el("dt", {}, name === "communication" ? "communication's share" : name), dd)));
    this.aloud = el("p", {class: "unseen", "aria-live": "polite"});
    const charts = el("div", {class: "charts"}, this.chart("curves"), this.chart("plane"));
    this.live.append(el("div", {class: "answer"}, controls, el("div", {}, big, this.words, this.limits, facts, this.aloud)), charts);
    const set = second => (x, y) => { this.state.work = round(x, 3); second(y); this.changed(); };
    this.curves = new hockney.sketch.Sketch(this.boxes.curves, "Efficiency against work, a curve for each number of ranks", set(() => {}), p => this.tell("curves", p && [p[0], null]));
    this.plane = new hockney.sketch.Sketch(this.boxes.plane, "Efficiency over work and message length or ranks, as contour lines", set(y => { this.state[this.over] = this.second(y); }), p => this.tell("plane", p));
  }

  second(y) { return this.over === "ranks" ? Math.max(1, Math.round(y)) : y < 1 ? 0 : Math.round(round(y, 3)); }

  control(id, {key, label, say, read, fits, hint, whole, aside: about = ""}, into) {
    const values = SCALES[key](this.ends[key]), name = `${id}-${key}`;
    const range = el("input", {type: "range", id: name, min: 0, max: values.length - 1, step: 1});
    const text = el("input", {type: "text", id: `${name}-text`, "aria-label": `${label}: ${hint}`, title: hint, autocomplete: "off", spellcheck: "false"});
    const aside = el("span", {class: "aside"});
    range.addEventListener("input", () => { this.state[key] = values[range.value]; this.changed(range); });
    text.addEventListener("change", () => {
      const value = read(text.value), good = value !== null && fits(value);
      text.setAttribute("aria-invalid", !good);
      if (!good) aside.textContent = `Not ${hint}`;
      if (good) { this.state[key] = whole ? Math.round(value) : value; this.changed(); }
    });
    into.append(el("div", {class: "control"}, el("label", {for: name}, label), el("div", {class: "row"}, range, text), aside));
    return () => {
      const value = this.state[key], near = values.findIndex(v => v >= value), words = say(value);
      range.value = near < 0 ? values.length - 1 : near;
      range.setAttribute("aria-valuetext", words);
      text.setAttribute("aria-invalid", false);
      text.value = words;
      aside.textContent = key === "bytes" && value && value % 4 === 0 ? `${value / 4} word${value === 4 ? "" : "s"} of 4 B` : about;
    };
  }

  // Ranks beyond the machine's cores: either they share cores, or the machine is assumed to be larger. The
  // switch is always there, so that it is found before it is needed.
  kind(id, into) {
    const box = el("input", {type: "checkbox", id: `${id}-larger`}), label = el("label", {for: box.id});
    box.addEventListener("change", () => { this.larger = box.checked; this.changed(); });
    const row = el("div", {class: "control check"}, box, label);
    into.append(row);
    return () => {
      const m = this.machine;
      m.larger = this.larger;
      row.hidden = !m.cores_known;
      box.disabled = this.state.ranks <= m.most_ranks;
      label.textContent = `More than ${plural(m.most_ranks)}: on a larger machine of this kind, with a core for each`;
    };
  }

  chart(name) {
    const box = el("div", {class: "canvas"}), said = el("p", {class: "said"}), title = el("h4", {}, name === "curves" ? "Efficiency against T" : "Efficiency over T and");
    this.boxes = {...this.boxes, [name]: box};
    this.said = {...this.said, [name]: said};
    const head = el("div", {class: "title"}, title);
    if (name === "plane") {
      const choices = el("div", {class: "choices", role: "group", "aria-label": "Second axis"});
      for (const [key, text] of [["bytes", "length L"], ["ranks", "ranks np"]]) {
        const b = el("button", {type: "button", "aria-pressed": key === this.over, "data-over": key}, text);
        b.addEventListener("click", () => { this.over = key; for (const each of choices.children) each.setAttribute("aria-pressed", each === b); this.changed(); });
        choices.append(b);
      }
      head.append(choices);
    }
    return el("div", {class: "chart"}, head, box, said);
  }

  changed() {
    const start = performance.now();
    this.update();
    performance.measure("hockney-explorer", {start});
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { this.aloud.textContent = `Efficiency ${this.big.efficiency.textContent}, speed-up ${this.big["speed-up"].textContent}. ${this.words.textContent}`; }, 600);
  }

  update() {
    this.width = this.live.clientWidth;
    for (const show of this.inputs) show();
    this.answer();
    this.drawCurves();
    this.drawPlane();
    this.tell("curves", null);
    this.tell("plane", null);
  }

  answer() {
    const m = this.machine, {work, bytes, serial, ranks} = this.state, now = g.times(m, work, bytes, serial, ranks);
    this.note.textContent = m.note;
    const of = name => g.estimate(m, bytes, ranks, factor => g.times(m, work, bytes, serial, ranks, factor)[name]);
    this.show(this.big.efficiency, of("efficiency"), g.percent);
    this.show(this.big["speed-up"], of("speedUp"), g.number);
    this.show(this.big.communication, of("share"), g.percent);
    const even = g.breakEven(m, bytes, serial, ranks);
    this.words.textContent = ranks === 1
      ? `One rank takes ${g.seconds(work)} and exchanges nothing.`
      : `${plural(ranks)} take ${g.seconds(now.total)} for work that takes one rank ${g.seconds(work)}: ${g.seconds(now.serial + now.parallel)} of computation and ${g.seconds(now.communication)} of communication with messages of ${g.size(bytes)}. ` +
        (even === null ? `No amount of work makes ${plural(ranks)} faster than one.` : work < even ? `That is slower than one rank; they are faster with more than ${g.seconds(even)} of work.` : `They are faster than one rank with more than ${g.seconds(even)} of work.`);
    const beyond = [];
    if (ranks > m.most_ranks) beyond.push(m.cores_known && !this.larger
      ? `${plural(ranks)} share ${m.most_ranks} cores: those on one core compute in turn. Waiting for the scheduler is not included.`
      : `This machine has room for ${plural(m.most_ranks)}; more ranks are assumed to be on a larger machine of the same kind.`);
    if (bytes > m.most_bytes) beyond.push(`Messages were measured up to ${g.bytes(m.most_bytes)}; longer ones are extrapolated.`);
    this.limits.textContent = beyond.join(" ");
    this.limits.hidden = !beyond.length;
    const needed = (dd, wanted) => {
      const least = factor => g.workNeeded(wanted, m, bytes, serial, ranks, factor);
      if (least(1) === null) dd.textContent = `no work is enough: at most ${g.percent(g.ceiling(m, serial, ranks))}`;
      else this.show(dd, g.estimate(m, bytes, ranks, factor => least(factor) ?? 0), g.seconds);
    };
    this.show(this.facts.exchange, of("communication"), g.seconds);
    needed(this.facts["break-even"], 1 / ranks);
    for (const e of NAMED) needed(this.facts[100 * e], e);
    const most = this.larger && m.cores_known ? Math.max(m.most_ranks, ranks) : m.most_ranks;
    const best = g.bestRanks(m, work, bytes, serial, most), there = g.times(m, work, bytes, serial, best);
    this.facts.best.textContent = `${best} of ${most}: speed-up ${g.number(there.speedUp)}, efficiency ${g.percent(there.efficiency)}`;
  }

  // A value followed by its interval in smaller type.
  show(dd, {value, low, high}, say) {
    const ends = low === null ? [] : [say(low), say(high)];
    dd.replaceChildren(say(value), ...(ends.some(end => end !== say(value)) ? [el("small", {}, ` (95%: ${ends.join(" to ")})`)] : []));
  }

  // The numbers of ranks shown: those of the machine, and enough to show the trend.
  get most() { return Math.max(2, Math.min(Math.max(this.ends.ranks[1], this.state.ranks), Math.max(16, this.machine.most_ranks, this.state.ranks))); }

  get size() {
    const width = Math.max(260, Math.floor(this.boxes.curves.clientWidth || 500));
    return {width, height: Math.round(Math.min(360, Math.max(250, width * .72)))};
  }

  get across() {
    const [low, high] = this.ends.work, {work} = this.state;
    return {x: {low: Math.min(low, work), high: Math.max(high, work), log: true}, xTitle: "work T", xTicks: a => hockney.sketch.powers(a, 10, 62).map(v => [v, v >= 100 ? `${v} s` : short(g.seconds(v))])};
  }

  drawCurves() {
    const {work, bytes, serial, ranks} = this.state, m = this.machine, s = this.curves;
    const doubling = [];
    for (let n = 2; n <= this.most; n *= 2) doubling.push(n);
    const stride = Math.ceil(doubling.length / 5), shown = doubling.filter((n, k) => k % stride === 0 && n !== ranks);
    const look = k => ({stroke: `var(--c${k + 1})`, "stroke-width": 1.6, "stroke-dasharray": DASHES[k]}), bold = {stroke: "var(--ink)", "stroke-width": 2.6};
    const legend = [[plural(ranks), bold], ...shown.map((n, k) => [plural(n), look(k)])];
    s.frame({...this.size, ...this.across, legend, y: {low: 0, high: 1.04}, yTitle: "parallel efficiency", yTicks: () => [0, .2, .4, .6, .8, 1].map(v => [v, g.percent(v)])});
    const curve = (n, look) => s.line(upTo(110, f => s.x.low * (s.x.high / s.x.low) ** f).map(t => [s.x.place(t), s.y.place(g.efficiency(m, t, bytes, serial, n))]), look);
    const even = (n, look) => {
      const t = g.breakEven(m, bytes, serial, n);
      if (t === null || t < s.x.low || t > s.x.high) return;
      s.add("circle", {cx: s.x.place(t), cy: s.y.place(1 / n), r: 4, fill: "var(--card)", "stroke-width": 1.8, ...look});
    };
    shown.forEach((n, k) => curve(n, look(k)));
    curve(ranks, bold);
    shown.forEach((n, k) => even(n, {stroke: `var(--c${k + 1})`}));
    if (ranks > 1) even(ranks, {stroke: "var(--ink)"});
    this.here(s, s.y.place(g.efficiency(m, work, bytes, serial, ranks)));
    s.show();
  }

  drawPlane() {
    const {work, bytes, serial, ranks} = this.state, m = this.machine, s = this.plane, byRanks = this.over === "ranks";
    const [low, high] = this.ends.bytes, most = this.most, stairs = most <= ROWS;
    const first = Math.max(1, low), last = Math.max(high, bytes, 2 * first);
    const y = byRanks
      ? {low: stairs ? 1.5 : 2, high: stairs ? most + .5 : most, log: !stairs}
      : {low: first, high: last, log: true, zero: low < 1 || bytes < 1 ? 40 : 0};
    const counts = a => {
      const step = Math.max(1, Math.ceil((most - 1) * 20 / Math.abs(a.to - a.from)));
      return Array.from({length: most - 1}, (_, k) => k + 2).filter(n => n % step === 0 || step === 1).map(n => [n, String(n)]);
    };
    s.frame({...this.size, ...this.across, y, yTitle: byRanks ? "ranks np" : "message length L",
      yTicks: a => byRanks ? (stairs ? counts(a) : hockney.sketch.powers(a, 2, 30).map(v => [v, String(v)])) : [...(y.zero ? [[0, "0"]] : []), ...hockney.sketch.powers(a, 2, 26).map(v => [v, g.bytes(v)])]});
    const rows = this.rows(s, y, byRanks, stairs, most);
    const clip = t => s.x.place(Math.min(Math.max(t, s.x.low), s.x.high));
    const needed = (wanted, [size, n]) => g.workNeeded(typeof wanted === "function" ? wanted(n) : wanted, m, size, serial, n);
    // The plane increases to the right, so in every row the part above a level is to the right of its line.
    const pieces = wanted => {
      const found = [[]];
      for (const row of rows) {
        const t = needed(wanted, row.at);
        if (t === null || t > s.x.high) found.push([]);
        else found.at(-1).push([t, row]);
      }
      return found.filter(piece => piece.length);
    };
    const left = piece => piece.flatMap(([t, row]) => row.y.map(py => [clip(t), py]));
    for (const level of LEVELS) for (const piece of pieces(level)) {
      const edge = left(piece);
      s.area([...edge, [s.x.to, edge.at(-1)[1]], [s.x.to, edge[0][1]]], {fill: "var(--c1)", "fill-opacity": .075});
    }
    const drawn = [...NAMED.map(e => [e, g.percent(e), {stroke: "var(--c1)", "stroke-width": 1.5}]),
      [n => 1 / n, "break-even", {stroke: "var(--c2)", "stroke-width": 2.2, "stroke-dasharray": "6 3"}]];
    // Names at different heights where lines are close.
    const labels = [], heights = {"50%": .25, "80%": .42, "90%": .58, "break-even": .78};
    for (const [wanted, name, look] of drawn) for (const piece of pieces(wanted)) {
      const inside = piece.flatMap(([t, row]) => row.y.map(py => t >= s.x.low ? [clip(t), py] : null));
      s.line(inside, look);
      const seen = inside.filter(Boolean);
      if (seen.length) labels.push([seen, name, look.stroke]);
    }
    const [hx, hy] = [s.x.place(work), s.y.place(byRanks ? ranks : bytes)];
    s.keep([hx - 9, hy - 9, hx + 9, hy + 9]);
    for (const [seen, name, fill] of labels.reverse()) {
      const tried = [0, -.1, .1, -.2, .2].map(shift => seen[Math.floor(seen.length * (heights[name] + shift))]);
      tried.some(([x, py]) => s.label(x, py, name, {fill}));
    }
    const limit = byRanks ? m.most_ranks + (stairs ? .5 : 0) : m.most_bytes;
    if (limit > y.low && limit < y.high) {
      s.line([[s.x.from, s.y.place(limit)], [s.x.to, s.y.place(limit)]], {stroke: "var(--muted)", "stroke-dasharray": "2 3"});
      s.label(s.x.from + 60, s.y.place(limit) - 9, byRanks ? `known to ${m.most_ranks}` : `known to ${g.bytes(m.most_bytes)}`, {fill: "var(--muted)"});
    }
    if (!byRanks || ranks > 1) this.here(s, hy);
    s.show();
  }

  // For each row of the plane what is computed and where it is drawn: lines at one height, whole ranks from
  // edge to edge.
  rows(s, y, byRanks, stairs, most) {
    const {bytes, ranks} = this.state;
    if (!byRanks) {
      const sizes = upTo(90, f => y.low * (y.high / y.low) ** f).map(size => ({at: [size, ranks], y: [s.y.place(size)]}));
      return y.zero ? [{at: [0, ranks], y: [s.y.from, s.y.start]}, ...sizes] : sizes;
    }
    if (stairs) return Array.from({length: most - 1}, (_, k) => ({at: [bytes, k + 2], y: [s.y.place(k + 1.5), s.y.place(k + 2.5)]}));
    return distinct(upTo(90, f => 2 * Math.round((most / 2) ** f))).map(n => ({at: [bytes, n], y: [s.y.place(n)]}));
  }

  here(s, y) {
    const x = s.x.place(this.state.work);
    s.add("path", {d: `M${x} ${s.y.from}V${y}`, stroke: "var(--ink)", "stroke-width": 1, "stroke-dasharray": "1 3"});
    s.add("circle", {cx: x, cy: y, r: 6, fill: "var(--accent)", stroke: "var(--card)", "stroke-width": 2, class: "here"});
  }

  // Below a chart: the values at the pointer, or how to read the chart.
  tell(name, p) {
    const {bytes, serial, ranks} = this.state;
    if (!p) {
      this.said[name].textContent = name === "curves" ? "Circles: break-even, where np ranks are as fast as one. The dot shows the values of the sliders; click to move it." : `A stronger colour means a higher efficiency.${this.over === "ranks" && this.most > ROWS ? " Lines connect even numbers of ranks." : ""} Click to move the dot.`;
      return;
    }
    const y = p[1] === null ? null : this.second(p[1]);
    const size = name === "plane" && this.over === "bytes" ? y : bytes, n = name === "plane" && this.over === "ranks" ? y : ranks;
    this.said[name].textContent = `${g.percent(g.efficiency(this.machine, p[0], size, serial, n))} with ${g.seconds(p[0])} of work, ${g.bytes(size)}, ${plural(n)}`;
  }
}

const short = text => text.replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");
const specs = JSON.parse(source.textContent);
for (const box of document.querySelectorAll("[data-widget=efficiency]")) new Explorer(box, specs[box.id]);
})();
