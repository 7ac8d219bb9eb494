// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
// Sliders for the factors of a program's costs, and its efficiency on each number of ranks. The times come
// from hockney/studies/program/explorer.py. The page is complete without this script: a table shows the
// predictions for factors of 1.
(() => {
"use strict";
const g = hockney.units;
const source = document.getElementById("widgets");
if (!source || !window.ResizeObserver) return;
const SLIDERS = [["computation", "Computing time"], ["latency", "Latency"], ["byte", "Time of a byte"]];
const STEPS = 24;

const el = (name, attributes = {}, ...children) => {
  const element = document.createElement(name);
  for (const [k, v] of Object.entries(attributes)) element.setAttribute(k, v);
  element.append(...children);
  return element;
};

// The weights of the values at `factors` for one between them.
function weights(factors, value) {
  const above = Math.max(1, factors.findIndex(f => f >= value)), [low, high] = [factors[above - 1], factors[above]];
  const part = (value - low) / (high - low);
  return factors.map((_, k) => k === above ? part : k === above - 1 ? 1 - part : 0);
}

// The time on each number of ranks with these factors of computation, latency and bytes.
hockney.scaledTimes = ({factors, times_s}, chosen) => {
  const [a, b, c] = chosen.map(value => weights(factors, value)), n = factors.length;
  return times_s.map(times => times.reduce((sum, time, k) =>
    sum + time * a[Math.floor(k / n ** 2)] * b[Math.floor(k / n) % n] * c[k % n], 0));
};

class Explorer {
  constructor(box, spec) {
    this.spec = spec;
    this.chosen = SLIDERS.map(() => 1);
    this.live = box.querySelector(".live");
    const controls = el("div", {class: "controls"}), low = spec.factors[0], high = spec.factors.at(-1);
    this.inputs = SLIDERS.map(([key, label], k) => {
      const id = `${box.id}-${key}`, out = el("output", {for: id, "data-factor": key});
      const range = el("input", {type: "range", id, min: 0, max: STEPS, step: 1, value: STEPS / 2});
      range.addEventListener("input", () => { this.chosen[k] = low * (high / low) ** (range.value / STEPS); this.update(); });
      controls.append(el("div", {class: "control"}, el("label", {for: id}, label), el("div", {class: "row"}, range, out)));
      return [range, out];
    });
    this.rows = el("tbody");
    const head = el("thead", {}, el("tr", {}, ...["ranks", "time", "speed-up", "efficiency"].map(t => el("th", {scope: "col", class: "n"}, t))));
    this.words = el("p", {"data-answer": "words", "aria-live": "polite"});
    this.canvas = el("div", {class: "canvas"});
    const chart = el("div", {class: "chart"}, el("h4", {}, "Efficiency against ranks"), this.canvas);
    this.live.append(el("div", {class: "answer"}, el("div", {}, controls, this.words), chart), el("div", {class: "scroll"}, el("table", {}, head, this.rows)));
    this.sketch = new hockney.sketch.Sketch(this.canvas, "Efficiency against ranks, as described and with the factors of the sliders", () => {}, () => {});
    box.classList.add("on");
    this.live.hidden = false;
    new ResizeObserver(() => { if (this.live.clientWidth !== this.width) this.update(); }).observe(this.live);
    this.update();
  }

  // The speed-up on each number of ranks: scaled as in the predictions (`Base` in models/programs/scaling.py).
  speedUps(times) { return times.map((time, k) => this.spec.scaled[k] * times[0] / time); }

  update() {
    this.width = this.live.clientWidth;
    const {ranks} = this.spec, times = hockney.scaledTimes(this.spec, this.chosen), up = this.speedUps(times);
    this.inputs.forEach(([range, out], k) => {
      out.textContent = `× ${g.number(this.chosen[k])}`;
      range.setAttribute("aria-valuetext", out.textContent);
    });
    this.rows.replaceChildren(...ranks.map((n, k) => el("tr", {}, ...[String(n), g.seconds(times[k]), g.number(up[k]), g.percent(up[k] / n)].map(t => el("td", {class: "n"}, t)))));
    const best = up.indexOf(Math.max(...up));
    this.words.textContent = `Fastest: ${ranks[best]} rank${ranks[best] === 1 ? "" : "s"}, speed-up ${g.number(up[best])}.`;
    this.draw(up);
  }

  draw(up) {
    const {ranks} = this.spec, s = this.sketch, plain = this.speedUps(hockney.scaledTimes(this.spec, SLIDERS.map(() => 1)));
    const width = Math.max(260, Math.floor(this.canvas.clientWidth || 500)), last = Math.max(2, ranks.at(-1));
    const looks = [{stroke: "var(--c1)", "stroke-width": 1.6, "stroke-dasharray": "6 3"}, {stroke: "var(--ink)", "stroke-width": 2.6}];
    const top = Math.max(1, ...[...up, ...plain].map((value, k) => value / ranks[k % ranks.length]));
    s.frame({width, height: Math.round(Math.min(360, Math.max(250, width * .72))), x: {low: 1, high: last, log: true}, xTitle: "ranks",
      xTicks: a => hockney.sketch.powers(a, 2, 30).map(v => [v, String(v)]), y: {low: 0, high: 1.04 * top}, yTitle: "parallel efficiency",
      yTicks: () => [0, .2, .4, .6, .8, 1].map(v => [v, g.percent(v)]), legend: [["as described", looks[0]], ["with these factors", looks[1]]]});
    [plain, up].forEach((values, k) => s.line(values.map((v, i) => [s.x.place(ranks[i]), s.y.place(v / ranks[i])]), looks[k]));
    s.show();
  }
}

const specs = JSON.parse(source.textContent);
for (const box of document.querySelectorAll("[data-widget=scaling]")) new Explorer(box, specs[box.id]);
})();
