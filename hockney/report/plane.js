// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
// A plane in the page: contour lines as in any figure, and on demand its surfaces, which can be rotated.
// Surfaces need WebGL contexts, of which a browser has few or none: they are created on demand and released
// afterwards.
window.hockney = window.hockney ?? {};
hockney.plane = Plot => {
"use strict";
const webgl = () => {
  try { return !!document.createElement("canvas").getContext("webgl"); } catch { return false; }
};

return class extends Plot {
  constructor(box) {
    super(box);
    const {words, surface} = this.spec;
    this.surface = surface;
    const place = (i, j) => `${words.x[i]}, ${words.y[j]}`;
    const grid = say => words.y.map((_, j) => words.x.map((_, i) => say(i, j)));
    this.data[0].hovertext = grid((i, j) => `<b>${place(i, j)}</b>` + words.sheets.map((name, k) => `<br>${name}: ${words.z[k][j][i]}`).join("")).flat();
    surface.data.forEach((sheet, k) => { sheet.text = grid((i, j) => `<b>${words.sheets[k]}</b><br>${words.z[k][j][i]} at ${place(i, j)}`); });
  }

  get drawn() { return this.space ? [this.surface.data, this.surface.layout] : super.drawn; }

  get zoomed() { return this.space ? this.camera !== this.home3 : super.zoomed; }

  toggle(k, on) {
    super.toggle(k, on);
    this.surface.data[k].visible = on;
  }

  addTools() {
    this.view = this.addTool("Show as surface", "surface", () => this.change());
    super.addTools();
  }

  // Initial camera position: farther from a narrow figure, whose sides would be cut off otherwise.
  stand() {
    const {scene} = this.surface.layout, {x, y, z} = scene.camera.eye;
    const far = Math.max(1, 1.4 * this.box.clientHeight / this.box.clientWidth);
    this.home3 = this.camera = scene.camera = {...scene.camera, eye: {x: far * x, y: far * y, z: far * z}};
  }

  async change() {
    if (!this.home3) this.stand();
    const [label, text] = this.space ? ["Show as surface", "surface"] : ["Show contour lines", "contours"];
    Object.assign(this.view, {textContent: text, title: label});
    this.view.setAttribute("aria-label", label);
    this.space = !this.space;
    this.figure.classList.toggle("space", this.space);
    this.reset.hidden = !this.zoomed;
    // Without WebGL the still picture of the surface is shown instead; it cannot be rotated.
    this.figure.classList.toggle("flat", this.space && !webgl());
    for (const b of this.tools.querySelectorAll(".zoom")) b.hidden = this.figure.classList.contains("flat");
    if (this.figure.classList.contains("flat")) return;
    Plotly.purge(this.box);
    await this.plot();
    performance.mark(this.space ? "hockney-surface" : "hockney-contours");
  }

  recolour() { return this.figure.classList.contains("flat") ? Promise.resolve() : super.recolour(); }

  relaid(change) {
    if (!this.space) return super.relaid(change);
    if (change["scene.camera"]) this.turned(change["scene.camera"]);
  }

  turned(camera) {
    this.camera = camera;
    this.surface.layout.scene.camera = camera;
    this.reset.hidden = !this.zoomed;
  }

  look(camera) {
    this.turned(camera);
    return Plotly.relayout(this.box, {"scene.camera": camera});
  }

  back() { return this.space ? this.look(this.home3) : super.back(); }

  // Zooms by `factor`; `shift` rotates the camera around and up.
  zoom(factor, shift = [0, 0]) {
    if (!this.space) return super.zoom(factor, shift);
    const {x, y, z} = this.camera.eye;
    const far = Math.min(Math.max(Math.hypot(x, y, z) * factor, .6), 6);
    const around = Math.atan2(y, x) + shift[0], up = Math.min(Math.max(Math.asin(z / Math.hypot(x, y, z)) + shift[1], -1.5), 1.5);
    return this.look({...this.camera, eye: {x: far * Math.cos(up) * Math.cos(around), y: far * Math.cos(up) * Math.sin(around), z: far * Math.sin(up)}});
  }

  // A surface can be rotated at any zoom; a flat picture can only be moved after it is enlarged.
  get movable() { return this.space || super.movable; }

  key(event) {
    if (event.key !== "s") return super.key(event);
    this.change();
    return true;
  }
};
};
