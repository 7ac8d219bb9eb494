# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Loops in sequences of calls.

Repetitions are found in all sequences together, the shortest bodies first, and equal bodies get the same
symbol whatever the number of iterations. Sequences of a program on different numbers of ranks therefore fold
into the same symbols if they differ only in how often loops repeat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np


@dataclass(frozen=True)
class Loop:
    """Iterations one after the other. Each consists of nodes, one for each symbol of the body: positions of
    calls in their sequence, and loops. With `is_choice`, it is one of several sequences of calls: a single
    iteration of loops, all but one of which are empty."""

    symbol: int
    iterations: tuple[tuple[Node, ...], ...]
    is_choice: bool = False


Node = int | Loop


def _chosen(node: Node) -> Node:
    while isinstance(node, Loop) and node.is_choice:
        node = next(each for each in node.iterations[0] if isinstance(each, Loop) and each.iterations)
    return node


def first_call(node: Node) -> int:
    while isinstance(node := _chosen(node), Loop):
        node = node.iterations[0][0]
    return node


def end_call(node: Node) -> int:
    """The position after the node's last call."""
    while isinstance(node := _chosen(node), Loop):
        node = node.iterations[-1][-1]
    return node + 1


@dataclass(frozen=True)
class Folded:
    """A sequence as nodes with their symbols."""

    symbols: tuple[int, ...]
    nodes: tuple[Node, ...]


@dataclass
class _Folder:
    symbols: np.ndarray
    nodes: list[Node]
    next_symbol: int
    bodies: dict[tuple[int, ...], int] = field(default_factory=dict)

    def fold(self) -> None:
        changed = True
        while changed:
            changed = False
            length = 1
            while length := self._next_period(length):
                changed |= self._fold_period(length)
                length += 1

    def _next_period(self, shortest: int) -> int:
        """The shortest distance of at least `shortest` at which a symbol occurs again; 0 if there is none."""
        order = np.argsort(self.symbols, kind="stable")
        again = self.symbols[order][1:] == self.symbols[order][:-1]
        distances = np.diff(order)[again]
        distances = distances[distances >= shortest]
        return int(distances.min()) if len(distances) else 0

    def _fold_period(self, length: int) -> bool:
        symbols = self.symbols
        same = np.zeros(len(symbols) + 1, dtype=np.int8)
        same[1 : len(symbols) - length + 1] = symbols[:-length] == symbols[length:]
        edges = np.flatnonzero(np.diff(np.append(same, 0)))
        starts, ends = edges[::2], edges[1::2]
        long = ends - starts >= length
        if not long.any():
            return False
        spans = []
        last = 0
        for start, end in zip(starts[long].tolist(), ends[long].tolist(), strict=True):
            start = max(start, last)
            count = (end - start) // length + 1
            if count > 1:
                last = start + count * length
                spans.append((start, count))
        for body in {tuple(symbols[start : start + length].tolist()) for start, _ in spans}:
            if body not in self.bodies:
                self.bodies[body] = self.next_symbol
                self.next_symbol += 1
        self._replace(spans, length)
        for body in [each for each in self.bodies if len(each) == length]:
            self._replace([(start, 1) for start in self._occurrences(body)], length)
        return True

    def _occurrences(self, body: tuple[int, ...]) -> Iterator[int]:
        """Where the body stands alone."""
        found = np.ones(max(len(self.symbols) - len(body) + 1, 0), dtype=bool)
        for k, symbol in enumerate(body):
            found &= self.symbols[k : k + len(found)] == symbol
        last = 0
        for start in np.flatnonzero(found).tolist():
            if start >= last:
                last = start + len(body)
                yield start

    def _replace(self, spans: Sequence[tuple[int, int]], length: int) -> None:
        if not spans:
            return
        symbols: list[np.ndarray] = []
        nodes: list[Node] = []
        last = 0
        for start, count in spans:
            symbols.append(self.symbols[last:start])
            nodes += self.nodes[last:start]
            symbol = self.bodies[tuple(self.symbols[start : start + length].tolist())]
            symbols.append(np.array([symbol]))
            bounds = [start + k * length for k in range(count + 1)]
            iterations = tuple(tuple(self.nodes[first:end]) for first, end in pairwise(bounds))
            nodes.append(Loop(symbol, iterations))
            last = bounds[-1]
        self.symbols = np.concatenate([*symbols, self.symbols[last:]])
        self.nodes = nodes + self.nodes[last:]


def fold(
    sequences: Sequence[np.ndarray], of_symbols: Sequence[Sequence[Node]] = (), next_symbol: int = 0
) -> list[Folded]:
    """Fold sequences of symbols (integers from 0 on). Calls keep their positions in their own sequence,
    unless there are other nodes of the symbols, with symbols up to `next_symbol` - 1."""
    parts: list[np.ndarray] = []
    nodes: list[Node] = []
    for number, sequence in enumerate(sequences):
        parts += [sequence.astype(np.int64), np.array([-1 - number])]
        nodes += [*(of_symbols[number] if of_symbols else range(len(sequence))), -1]
    symbols = np.concatenate(parts) if parts else np.zeros(0, np.int64)
    folder = _Folder(symbols, nodes, max(int(symbols.max(initial=-1)) + 1, next_symbol))
    folder.fold()
    folded, first = [], 0
    for end in np.flatnonzero(folder.symbols < 0).tolist():
        folded.append(Folded(tuple(folder.symbols[first:end].tolist()), tuple(folder.nodes[first:end])))
        first = end + 1
    return folded
