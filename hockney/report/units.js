// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
// Numbers with units as hockney/core/units.py formats and parses them; tests compare the two.
window.hockney = window.hockney ?? {};
hockney.units = (() => {
"use strict";
function significant(value, digits) {
  if (!value || !isFinite(value)) return value ? String(value) : "0";
  const rounded = Number(value.toPrecision(digits));
  return rounded.toFixed(Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(rounded)))));
}

function seconds(value) {
  if (!isFinite(value)) return "unknown";
  if (value >= 100) {
    const all = Math.round(value), minutes = Math.floor(all / 60), two = n => String(n).padStart(2, "0");
    return minutes >= 60 ? `${Math.floor(minutes / 60)}h${two(minutes % 60)}m` : `${minutes}m${two(all % 60)}s`;
  }
  for (const [limit, factor, unit] of [[1e-6, 1e9, "ns"], [1e-3, 1e6, "us"], [1, 1e3, "ms"]])
    if (value < limit * (1 - .0005)) return `${significant(value * factor, 3)} ${unit}`;
  return `${significant(value, 3)} s`;
}

function bytes(value) {
  for (const unit of ["B", "KiB", "MiB", "GiB"]) {
    if (value < 1024) return `${Number(value.toPrecision(4))} ${unit}`;
    value /= 1024;
  }
  return `${Number(value.toPrecision(4))} TiB`;
}

// Exact bytes as somebody would type them, in binary units if that gives an integer, large ones in decimal units if that does.
function size(value) {
  if (value < 1e7) return value % 1024 === 0 ? bytes(value) : `${value} B`;
  if (value % 2 ** 20 === 0 || value % 1e6) return bytes(value);
  const [factor, unit] = [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"]].find(([factor]) => value >= factor);
  return `${Number((value / factor).toPrecision(10))} ${unit}`;
}
const number = value => value > 0 && value < 1e-3 ? "<0.001" : String(Number(value.toPrecision(3)));
const percent = value => value > 0 && value < 1e-4 ? "<0.01%" : `${number(100 * value)}%`;

const SECONDS = {ns: 1e-9, us: 1e-6, "µs": 1e-6, ms: 1e-3, "": 1, s: 1, m: 60, min: 60, h: 3600};
const BYTES = {"": 1, b: 1, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30, t: 2 ** 40, tib: 2 ** 40, word: 4, words: 4};

// Parses user input; null if it is not such a number.
function read(text, units) {
  const match = /^\s*(\d+\.?\d*(?:e[+-]?\d{1,3})?|\.\d+)\s*([a-zµ%]*)\s*$/i.exec(text);
  const factor = match && (units[match[2]] ?? units[match[2].toLowerCase()]);
  return factor ? Number(match[1]) * factor : null;
}

// "4m40s" and "1h05m" is how `seconds` formats long times.
function readSeconds(text) {
  const parts = /^\s*(\d+)\s*([hm])\s*(\d+)\s*[ms]\s*$/.exec(text);
  return parts ? Number(parts[1]) * SECONDS[parts[2]] + Number(parts[3]) * (parts[2] === "h" ? 60 : 1) : read(text, SECONDS);
}

const readBytes = text => read(text, BYTES);
const readFraction = text => read(text, {"": 1, "%": .01});
const readCount = text => read(text, {"": 1, rank: 1, ranks: 1});

return {seconds, bytes, size, number, percent, readSeconds, readBytes, readFraction, readCount};
})();
