// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
// The model of efficiency as in hockney/models/applications/ring_exchange.py, granularity.py,
// grain_prediction.py and point_to_point_costs.py, term by term. Tests compare every function here with its
// counterpart there. Times in seconds, sizes in bytes; a machine `m` is written by
// hockney/studies/granularity/explore.py.
window.hockney = window.hockney ?? {};
hockney.efficiency = (() => {
"use strict";
const ROUNDING = 1e-12, FINE = 1024;

function piece(pieces, size) {
  let found = pieces[0];
  for (const each of pieces) if (size >= each[0]) found = each;
  return {latency: found[1], perByte: found[2]};
}

const line = (level, size) => {
  const {latency, perByte} = piece(level.pieces, size);
  return latency + perByte * size;
};

// Each of `atOnce` messages that one node sends at once.
function together(level, size, atOnce) {
  const alone = line(level, size);
  if (!level.node || atOnce <= 1) return alone;
  const {rate, gap_s} = level.node, latency = Math.max(0, piece(level.pieces, 0).latency);
  return Math.max(alone, latency + (atOnce - 1) * gap_s + atOnce * size / (rate ?? Infinity));
}

// The costs of all kinds of messages among `ranks` ranks, within a node first.
function levels(m, ranks) {
  if (!m.near) return [m];
  const between = ranks > m.cores, within = !between || m.cores > 1;
  return [...(within ? [m.near] : []), ...(between ? [m] : [])];
}

// The time of a message beyond the time it occupies the medium, with `far` of them between nodes at once, and
// `inside` within each node.
function passed(m, size, far, inside) {
  if (!far && m.near) return together(m.near, size, inside);
  if (!m.near && !m.network && !m.shared && m.node) return together(m, size, far);
  const {latency, perByte} = piece(m.pieces, size);
  const fixed = latency < 0 ? latency - m.medium[0] : Math.max(0, latency - m.medium[0]);
  const between = Math.max(0, fixed + Math.max(0, perByte - m.medium[1]) * (m.shared ? far : 1) * size);
  return m.near?.node && inside > 1 ? Math.max(between, together(m.near, size, inside)) : between;
}

// For each step the number of messages between nodes.
function steps(m, size, ranks) {
  const waits = ranks % 2 === 1 && size > (levels(m, ranks).at(-1).eager ?? Infinity);
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
  const inside = Math.max(1, Math.floor(Math.min(Math.max(1, m.cores), ranks) / 2));
  let begin = 0;
  for (const far of all) begin += Math.max((far ? hold : 0) + passed(m, size, far, inside), far * hold);
  const met = ranks % 2 === 1 && all.length === 1 && m.cores < 2 ? m.half_duplex_s_per_byte * size : 0;
  return begin + (last * hold + passed(m, size, last, inside)) + met;
}

// The number of ranks that share a core and compute one after the other. `larger` assumes a larger machine of
// the same kind, with a core for each rank.
const crowd = (m, ranks) => m.larger || !m.cores_known ? 1 : Math.max(1, ranks / m.most_ranks);

// `factor` multiplies the time of an exchange: an end of its interval.
function times(m, work, size, serial, ranks, factor = 1) {
  const communication = factor * exchange(m, size, ranks), share = (1 - serial) * work / ranks;
  const parallel = ranks === 1 ? share : Math.min(crowd(m, ranks), ranks) * share;
  const total = ranks === 1 ? work : serial * work + parallel + communication;
  const speedUp = work / total;
  return {serial: serial * work, parallel, communication, total, speedUp, efficiency: speedUp / ranks, share: communication / total};
}

const efficiency = (m, work, size, serial, ranks) => times(m, work, size, serial, ranks).efficiency;

const ceiling = (m, serial, ranks) => ranks === 1 ? 1 : 1 / (Math.min(crowd(m, ranks), ranks) * (1 - serial) + ranks * serial);

// The work from which the efficiency is at least `wanted`; null if no work is enough.
function workNeeded(wanted, m, size, serial, ranks, factor = 1) {
  if (ranks === 1) return wanted <= 1 ? 0 : null;
  const left = 1 - wanted / ceiling(m, serial, ranks), communication = factor * exchange(m, size, ranks);
  if (left <= ROUNDING) return left >= -ROUNDING && communication === 0 ? 0 : null;
  return wanted * ranks * communication / left;
}

const breakEven = (m, size, serial, ranks, factor = 1) => workNeeded(1 / ranks, m, size, serial, ranks, factor);

// The factors of a size's band: interpolated linearly between the neighboring sizes.
function banded(m, size) {
  const ends = [m.band[0], ...m.band, [Infinity, ...m.band.at(-1).slice(1)]];
  const k = ends.findIndex((after, k) => k > 0 && size <= after[0]), before = ends[k - 1], after = ends[k];
  const width = after[0] - before[0], at = width > 0 && width < Infinity ? Math.max(0, (size - before[0]) / width) : 0;
  return [1, 2].map(j => before[j] + at * (after[j] - before[j]));
}

// Factors by which a message of this level may be shorter and longer (95%); null if no interval is known.
function levelBounds(level, size) {
  if (!level.band.length) return null;
  const change = level.changes.find(([low, high]) => low < size && size < high);
  const here = banded(level, size);
  if (!change) return here;
  const time = ({latency, perByte}) => latency + perByte * size;
  const now = line(level, size), sides = change.map(at => banded(level, at));
  const [before, after] = change.map(at => piece(level.pieces, at)), {latency, perByte} = after;
  const least = Math.min(before.latency + before.perByte * change[0], latency + perByte * change[1]);
  const either = [time(before), latency < 0 ? Math.max(time(after), least) : time(after)];
  return [
    now ? Math.min(here[0], Math.min(...sides.map(s => s[0])) * Math.min(...either) / now) : 1,
    now ? Math.max(here[1], Math.max(...sides.map(s => s[1])) * Math.max(...either) / now) : 1,
  ];
}

// Messages that take `factor` times as long, and what they share at the same end of its interval.
function scaled(level, size, factor, end) {
  const {latency, perByte} = piece(level.pieces, size), {node} = level;
  return {
    ...level,
    pieces: [[0, factor * latency, factor * perByte]],
    node: node && node.rate !== null ? {...node, rate: node.ends[1 - end]} : node,
  };
}

// Factors by which an exchange may be shorter and longer (95%); null if no interval is known. Messages within
// nodes and between them are assumed to be off in the same direction.
function bounds(m, size, ranks) {
  const all = levels(m, ranks), near = levelBounds(all[0], size), far = levelBounds(all.at(-1), size);
  if (all.length === 1 && !all[0].node) return near;
  const time = exchange(m, size, ranks);
  if (!near || !far || time <= 0) return null;
  return [0, 1].map(end => {
    const out = scaled(m, size, far[end], end);
    const both = all[0] === m.near ? {...out, near: scaled(m.near, size, near[end], end)} : out;
    return exchange(both, size, ranks) / time;
  });
}

// The value for a factor of the exchange time, with the ends given by its interval.
function estimate(m, size, ranks, value) {
  const middle = value(1), ends = bounds(m, size, ranks);
  if (!ends) return {value: middle, low: null, high: null};
  const all = [middle, ...ends.map(value)];
  return {value: middle, low: Math.min(...all), high: Math.max(...all)};
}

// Numbers of ranks to consider: each up to 1024, then in steps of about a thousandth, and `most`.
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

return {exchange, times, efficiency, ceiling, workNeeded, breakEven, bounds, estimate, counts, bestRanks};
})();
