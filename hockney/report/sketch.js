// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
// Small charts that are redrawn with each move of a slider: SVG in the page's colours, so that theme, print
// and zoom need no extra code.
window.hockney = window.hockney ?? {};
hockney.sketch = (() => {
"use strict";

function make(name, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [k, v] of Object.entries(attributes)) if (v !== undefined) element.setAttribute(k, v);
  if (text !== undefined) element.textContent = text;
  return element;
}

// An axis from `low` to `high` on `pixels` pixels. With `zero`, 0 has a separate position at the low end of a
// logarithmic axis, `zero` pixels wide.
function axis({low, high, log, zero = 0}, from, to) {
  const start = from + Math.sign(to - from) * zero, f = log ? Math.log : v => v;
  const place = v => zero && v <= 0 ? from + (start - from) / 2 : start + (to - start) * (f(v) - f(low)) / (f(high) - f(low));
  const value = p => {
    const part = (p - start) / (to - start);
    if (zero && part < -1e-9) return 0;
    return log ? low * (high / low) ** Math.min(Math.max(part, 0), 1) : low + (high - low) * Math.min(Math.max(part, 0), 1);
  };
  return {place, value, low, high, from, to, start};
}

// Ticks of a logarithmic axis in powers of `base`, at least `room` pixels apart.
function powers(a, base, room) {
  const log = v => Math.log(v) / Math.log(base), first = Math.ceil(log(a.low) - 1e-9), last = Math.floor(log(a.high) + 1e-9);
  const fit = Math.max(1, Math.floor(Math.abs(a.to - a.start) / room));
  const stride = [1, 2, 3, 5, 10].find(s => (last - first) / s <= fit) ?? last - first;
  const found = [];
  for (let k = first; k <= last; k++) if (k % stride === 0) found.push(base ** k);
  return found;
}

class Sketch {
  // Fills `host`; `act(x, y)` is called with the axes' values on a press, and `tell(x, y)` when the pointer
  // moves.
  constructor(host, label, act, tell) {
    this.svg = make("svg", {role: "img", "aria-label": label, class: "sketch"});
    host.append(this.svg);
    const at = event => {
      const box = this.svg.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
      const inside = x >= this.x.from && x <= this.x.to && y <= this.y.from && y >= this.y.to;
      return inside ? [this.x.value(x), this.y.value(y)] : null;
    };
    this.svg.addEventListener("pointermove", event => { const p = at(event); tell(p); if (p && event.buttons === 1 && event.pointerType === "mouse") act(...p); });
    this.svg.addEventListener("pointerleave", () => tell(null));
    this.svg.addEventListener("click", event => { const p = at(event); if (p) act(...p); });
  }

  // Start again: sizes, axes, ticks as [value, label], titles, lines of the legend as [name, attributes].
  frame({width, height, x, y, xTicks, yTicks, xTitle, yTitle, legend = []}) {
    this.parts = [];
    this.over = [];
    const left = 62, right = 14, bottom = 44, top = 12 + this.names(legend, width - left - right, left);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.x = axis(x, left, width - right);
    this.y = axis(y, height - bottom, top);
    const ticks = (list, a, room) => {
      let end = -Infinity;
      return list(a).map(([v, t]) => [a.place(v), t]).sort(([p], [q]) => p - q).filter(([p, t]) => {
        const half = room(t) / 2;
        if (p - half < end) return false;
        end = p + half;
        return true;
      });
    };
    for (const [p, t] of ticks(xTicks, this.x, t => 7 * t.length + 10)) {
      this.add("path", {d: `M${p} ${this.y.from}V${this.y.to}`, class: "grid"});
      this.add("text", {x: p, y: this.y.from + 16, "text-anchor": p > width - 30 ? "end" : "middle", class: "tick"}, t);
    }
    for (const [p, t] of ticks(yTicks, this.y, () => 18)) {
      this.add("path", {d: `M${this.x.from} ${p}H${this.x.to}`, class: "grid"});
      this.add("text", {x: this.x.from - 7, y: p + 4, "text-anchor": "end", class: "tick"}, t);
    }
    this.add("text", {x: (this.x.from + this.x.to) / 2, y: height - 8, "text-anchor": "middle", class: "tick"}, xTitle);
    this.add("text", {transform: `translate(13 ${(this.y.from + this.y.to) / 2}) rotate(-90)`, "text-anchor": "middle", class: "tick"}, yTitle);
  }

  // The legend at the top, in as many rows as needed; returns its height in pixels.
  names(legend, width, left) {
    let row = 0, at = 0;
    for (const [name, look] of legend) {
      const room = 7 * name.length + 42;
      if (at && at + room > width) [row, at] = [row + 1, 0];
      const x = left + at, y = 9 + 18 * row;
      this.add("path", {d: `M${x} ${y}h24`, fill: "none", ...look});
      this.add("text", {x: x + 30, y: y + 4, fill: "var(--ink)"}, name);
      at += room;
    }
    return legend.length ? 18 * (row + 1) : 0;
  }

  add(name, attributes, text) { this.parts.push(make(name, attributes, text)); }

  // Positions in pixels, clipped to the frame; null ends a line.
  line(points, attributes) {
    let d = "", pen = "M";
    for (const p of points) {
      if (!p) { pen = "M"; continue; }
      d += `${pen}${p[0].toFixed(1)} ${p[1].toFixed(1)}`;
      pen = "L";
    }
    if (d) this.add("path", {d, fill: "none", ...attributes});
  }

  area(points, attributes) {
    if (points.length > 2) this.add("path", {d: `M${points.map(([a, b]) => `${a.toFixed(1)} ${b.toFixed(1)}`).join("L")}z`, stroke: "none", ...attributes});
  }

  // No label may be placed here.
  keep(box) { this.over.push(box); }

  // A label with a halo, placed away from the frame's sides. False if it would overlap another one.
  label(x, y, text, attributes = {}) {
    const half = 3.4 * text.length + 4, at = Math.min(Math.max(x, this.x.from + half), this.x.to - half);
    const box = [at - half, y - 9, at + half, y + 6];
    if (this.over.some(o => box[0] < o[2] && o[0] < box[2] && box[1] < o[3] && o[1] < box[3])) return false;
    this.over.push(box);
    this.add("text", {x: at, y: y + 4, "text-anchor": "middle", class: "mark", fill: "var(--ink)", ...attributes}, text);
    return true;
  }

  show() { this.svg.replaceChildren(...this.parts); }
}

return {Sketch, powers};
})();
