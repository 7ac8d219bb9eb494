// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
// What hockney/models/applications/point_to_point_costs.py and hockney/models/applications/granularity.py compute, term by term, and what
// hockney/core/units.py says and reads; tests hold every function here against the one there.
// Times in seconds, sizes in bytes; a machine `m` is an ExplorerMachine of hockney/draw/page.py.
window.hockney = window.hockney ?? {};
hockney.granularity = (() => {
"use strict";
const ROUNDING = 1e-12, FINE = 1024;

function piece(pieces, size) {
  let found = pieces[0];
  for (const each of pieces) if (size >= each[0]) found = each;
  return {latency: found[1], perByte: found[2]};
}

// What a message takes beside holding the medium, with `far` of them between nodes at once.
function passed(m, size, far) {
  const {latency, perByte} = piece(far ? m.pieces : m.near, size);
  if (!far) return latency + perByte * size;
  return Math.max(0, latency - m.medium[0]) + Math.max(0, perByte - m.medium[1]) * (m.shared ? far : 1) * size;
}

// For each step how many messages go from node to node.
function steps(m, size, ranks) {
  const waits = ranks % 2 === 1 && size > (m.eager ?? Infinity);
  if (m.cores < 2) {
    const half = Math.floor(ranks / 2);
    return waits ? [half, half, 1] : [ranks - half, half];
  }
  if (ranks <= m.cores) return waits ? [0, 0, 0] : [0, 0];
  const nodes = Math.ceil(ranks / m.cores), alone = ranks % m.cores === 1;
  if (waits) return alone ? [0, nodes - 1, 1] : [0, 0, nodes];
  return alone && ranks % 2 === 0 ? [1, nodes - 1] : [0, nodes];
}

// Tcom.
function exchange(m, size, ranks) {
  if (ranks < 2) return 0;
  const hold = m.medium[0] + m.medium[1] * size, all = steps(m, size, ranks), last = all.pop();
  let begin = 0;
  for (const far of all) begin += Math.max((far ? hold : 0) + passed(m, size, far), far * hold);
  const met = ranks % 2 === 1 && all.length === 1 && m.cores < 2 ? m.half_duplex_s_per_byte * size : 0;
  return begin + (last * hold + passed(m, size, last)) + met;
}

function times(m, work, size, serial, ranks) {
  const communication = exchange(m, size, ranks), share = (1 - serial) * work / ranks;
  const total = ranks === 1 ? work : serial * work + share + communication;
  const speedUp = work / total;
  return {serial: serial * work, parallel: share, communication, total, speedUp, efficiency: speedUp / ranks, share: communication / total};
}

const efficiency = (m, work, size, serial, ranks) => times(m, work, size, serial, ranks).efficiency;

const ceiling = (serial, ranks) => ranks === 1 ? 1 : 1 / (1 - serial + ranks * serial);

// The work from which the efficiency is at least `wanted`; null where no work is enough.
function workNeeded(wanted, m, size, serial, ranks) {
  if (ranks === 1) return wanted <= 1 ? 0 : null;
  const left = 1 - wanted / ceiling(serial, ranks), communication = exchange(m, size, ranks);
  if (left <= ROUNDING) return left >= -ROUNDING && communication === 0 ? 0 : null;
  return wanted * ranks * communication / left;
}

const breakEven = (m, size, serial, ranks) => workNeeded(1 / ranks, m, size, serial, ranks);

// Numbers of ranks to look at: each up to 1024, then in steps of about a thousandth, and `most`.
function counts(most) {
  const found = [];
  for (let n = 1; n <= Math.min(most, FINE); n++) found.push(n);
  for (let step = 2; found.at(-1) + step <= most; step *= 2) {
    const first = found.at(-1), end = Math.min(2 * first, most);
    for (let n = first + step; n <= end; n += step) found.push(n);
  }
  if (found.at(-1) !== most) found.push(most);
  return found;
}

function bestRanks(m, work, size, serial, most) {
  let best = 1, fastest = 0;
  for (const n of counts(most)) {
    const {speedUp} = times(m, work, size, serial, n);
    if (speedUp > fastest) [best, fastest] = [n, speedUp];
  }
  return best;
}

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

const number = value => value > 0 && value < 1e-3 ? "<0.001" : String(Number(value.toPrecision(3)));
const percent = value => value > 0 && value < 1e-4 ? "<0.01%" : `${number(100 * value)}%`;

const SECONDS = {ns: 1e-9, us: 1e-6, "µs": 1e-6, ms: 1e-3, "": 1, s: 1, m: 60, min: 60, h: 3600};
const BYTES = {"": 1, b: 1, kb: 1e3, mb: 1e6, gb: 1e9, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30, word: 4, words: 4};

// What someone typed; null for what is no such number.
function read(text, units) {
  const match = /^\s*(\d+\.?\d*(?:e[+-]?\d{1,3})?|\.\d+)\s*([a-zµ%]*)\s*$/i.exec(text);
  const factor = match && (units[match[2]] ?? units[match[2].toLowerCase()]);
  return factor ? Number(match[1]) * factor : null;
}

// "4m40s" and "1h05m" are what `seconds` writes of long times.
function readSeconds(text) {
  const parts = /^\s*(\d+)\s*([hm])\s*(\d+)\s*[ms]\s*$/.exec(text);
  return parts ? Number(parts[1]) * SECONDS[parts[2]] + Number(parts[3]) * (parts[2] === "h" ? 60 : 1) : read(text, SECONDS);
}

const readBytes = text => read(text, BYTES);
const readFraction = text => read(text, {"": 1, "%": .01});
const readCount = text => read(text, {"": 1, rank: 1, ranks: 1});

return {exchange, times, efficiency, ceiling, workNeeded, breakEven, counts, bestRanks, seconds, bytes, number, percent, readSeconds, readBytes, readFraction, readCount};
})();
