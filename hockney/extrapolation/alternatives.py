# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Loops in which each rank makes one of two sequences of calls: which one depends on its rank and on the
iteration, as if the owner of a row sends it to all others, which receive it."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hockney.extrapolation.folding import Folded, Loop, Node, fold
from hockney.extrapolation.grids import Dims
from hockney.extrapolation.laws import Law, fit_count_law
from hockney.extrapolation.partners import OWNERS, Owner

Word = tuple[int, ...]
"""Kinds of calls that always follow each other."""


@dataclass(frozen=True)
class Alternatives:
    """Two words of which each rank makes one in an iteration. If it `repeats`, a word is made several times
    in an iteration."""

    words: tuple[Word, Word]
    repeats: tuple[bool, bool]

    @property
    def kinds(self) -> frozenset[int]:
        return frozenset(itertools.chain(*self.words))

    def tokens(self, sequence: np.ndarray, symbol: int) -> tuple[list[int], list[Node]]:
        """The sequence with this symbol for each choice, which is a loop of one iteration with a loop of each
        word, one of them empty."""
        calls = sequence.tolist()
        symbols: list[int] = []
        nodes: list[Node] = []
        k = 0
        while k < len(calls):
            chosen = next((n for n, word in enumerate(self.words) if word[0] == calls[k]), None)
            if chosen is None:
                symbols.append(calls[k])
                nodes.append(k)
                k += 1
                continue
            word = self.words[chosen]
            iterations: list[tuple[Node, ...]] = []
            while tuple(calls[k : k + len(word)]) == word and (self.repeats[chosen] or not iterations):
                iterations.append(tuple(range(k, k + len(word))))
                k += len(word)
            loops = [Loop(symbol + 1 + n, tuple(iterations) if n == chosen else ()) for n in range(2)]
            symbols.append(symbol)
            nodes.append(Loop(symbol, (tuple(loops),), is_choice=True))
        return symbols, nodes

    def fold(self, sequences: Sequence[np.ndarray]) -> list[Folded]:
        symbol = max(int(each.max(initial=0)) for each in sequences) + 1
        made = [self.tokens(each, symbol) for each in sequences]
        return fold([np.array(each) for each, _ in made], [nodes for _, nodes in made], symbol + 3)


def alternatives(runs: Sequence[Sequence[np.ndarray]], messages: set[int]) -> Iterator[Alternatives]:
    """Pairs of words of messages that make the sequences of all ranks of all runs equal, up to numbers of
    iterations; `runs` have the sequence of each rank."""
    sequences = [each for run in runs for each in run]
    if all(len({each.tobytes() for each in run}) == 1 for run in runs):
        return
    words = [word for word in _words(sequences) if messages.issuperset(word)]
    for first, second in itertools.combinations(words, 2):
        for one, other in itertools.product((False, True), repeat=2):
            made = Alternatives((first, second), (one, other))
            if all(len({_count(each, made) for each in run}) == 1 for run in runs):
                folded = made.fold(sequences)
                if len({each.symbols for each in folded}) == 1:
                    yield made


def _count(sequence: np.ndarray, made: Alternatives) -> int:
    count = 0
    for word, repeats in zip(made.words, made.repeats, strict=True):
        at = np.flatnonzero(sequence == word[0])
        count += int(np.count_nonzero(np.diff(at) != len(word)) + (len(at) > 0)) if repeats else len(at)
    return count


def _words(sequences: Sequence[np.ndarray]) -> list[Word]:
    following: dict[int, set[int]] = defaultdict(set)
    preceding: dict[int, set[int]] = defaultdict(set)
    for each in sequences:
        pairs = np.unique(np.column_stack([np.append(-1, each), np.append(each, -1)]), axis=0)
        for first, second in pairs.tolist():
            following[first].add(second)
            preceding[second].add(first)
    next_of = {
        first: second
        for first, (second, *others) in following.items()
        if not others and first >= 0 and second >= 0 and first != second and preceding[second] == {first}
    }
    words = []
    for start in sorted(set(following) - {-1} - set(next_of.values())):
        word = [start]
        while word[-1] in next_of:
            word.append(next_of[word[-1]])
        words.append(tuple(word))
    return words


Guard = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""Whether a rank makes the first word, from the rank, the number of ranks, the iteration and the number of
iterations."""


def _keeps_low(rank: np.ndarray, ranks: np.ndarray, k: np.ndarray, count: np.ndarray) -> np.ndarray:
    """In a bitonic sort, by the direction of the stage and the bit of the exchange."""
    stage = ((np.sqrt(8 * k + 1) - 1) // 2).astype(np.int64)
    bit = stage * (stage + 3) // 2 - k
    return np.asarray((rank >> (stage + 1)) % 2 == (rank >> bit) % 2)


def _owns(owner: Owner) -> Guard:
    return lambda rank, ranks, k, count: owner(k, count, ranks) == rank


GUARDS: tuple[tuple[str, Guard], ...] = (
    *((f"r = {text}", _owns(owner)) for text, owner in OWNERS),
    ("r + k even", lambda rank, ranks, k, count: (rank + k) % 2 == 0),
    ("bit k of r", lambda rank, ranks, k, count: rank >> np.minimum(k, 40) & 1 == 1),
    ("direction in a bitonic sort", _keeps_low),
)


@dataclass(frozen=True)
class GuardedCount:
    """How often a rank makes a word in an iteration: as a law gives it, if the guard chooses it, or else not
    at all."""

    guard: Guard
    chooses: bool
    law: Law
    text: str
    others: tuple[Law, ...] = ()
    is_exact: bool = True
    repeats: int = 1

    def in_iteration(self, rank: int, ranks: int, dims: Dims, k: int, count: int) -> int:
        numbers = (np.array(each) for each in (rank, ranks, k, count))
        return round(self.law.at(ranks, dims)) if bool(self.guard(*numbers)) == self.chooses else 0


def fit_guard(
    rank: np.ndarray,
    ranks: np.ndarray,
    k: np.ndarray,
    count: np.ndarray,
    made: np.ndarray,
    dims: Mapping[int, Dims],
) -> GuardedCount | None:
    """The rule of how often a word is made, from observations of rank, number of ranks, iteration and
    number of iterations."""
    numbers = {each: set(made[(ranks == each) & (made > 0)].tolist()) for each in np.unique(ranks).tolist()}
    if any(len(each) != 1 for each in numbers.values()):
        return None
    law = fit_count_law({each: values.pop() for each, values in numbers.items()}, dims)
    if law is None or law.error > 0:
        return None
    for text, guard in GUARDS:
        chosen = guard(rank, ranks, k, count)
        for chooses in (True, False):
            if ((chosen == chooses) == (made > 0)).all():
                return GuardedCount(guard, chooses, law, text if chooses else f"not {text}")
    return None
