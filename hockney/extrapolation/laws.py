# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How counts and sizes depend on the number of ranks: laws with one or two coefficients that predict each
observation from the others."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from hockney.extrapolation.grids import Dims

EXACT = 0.002
"""Relative error that rounding causes, as in the division of a problem among ranks."""
APPROXIMATE = 0.05
"""Relative error of laws for values that vary between ranks and iterations."""


@dataclass(frozen=True)
class Basis:
    """The number of ranks P and the sizes of their grid, each to a power: P^power times the product of the
    sizes to theirs. With `logarithm` log2 of that, rounded up if it is "ceil"; `shift` is added to each."""

    text: str
    power: float = 0.0
    powers: tuple[float, ...] = ()
    logarithm: Literal["", "exact", "ceil"] = ""
    shift: int = 0

    def at(self, ranks: int, dims: Dims) -> float:
        sizes = math.prod(
            (size + self.shift) ** power for size, power in zip(dims, self.powers, strict=False) if power
        )
        number = ranks + self.shift
        value = float(number**self.power * sizes) if number or self.power >= 0 else 0.0
        if self.logarithm:
            value = math.log2(value)
            return float(math.ceil(value)) if self.logarithm == "ceil" else value
        return value

    def depends_on(self, dimensions: Sequence[int]) -> bool:
        """Whether it contains the size of one of these dimensions."""
        return any(k < len(self.powers) and self.powers[k] != 0 for k in dimensions)


@dataclass(frozen=True)
class Law:
    """`offset` + `factor` x basis. `error` is the largest relative error of an observation that is predicted
    from the others."""

    basis: Basis
    factor: float
    offset: float = 0.0
    error: float = 0.0

    @property
    def is_exact(self) -> bool:
        return self.error <= EXACT

    @property
    def is_safe(self) -> bool:
        """Whether it has no difference, which may be negative on other numbers of ranks, and no logarithm,
        which is exact where an algorithm has one."""
        return self.factor > 0 and self.offset >= 0 and not self.basis.logarithm

    @property
    def is_rough(self) -> bool:
        return self.error > APPROXIMATE

    def at(self, ranks: int, dims: Dims) -> float:
        return self.offset + self.factor * self.basis.at(ranks, dims)

    @property
    def text(self) -> str:
        term = f" {self.basis.text}" if self.basis is not CONSTANT else ""
        offset = f" {'+' if self.offset > 0 else '-'} {abs(self.offset):g}" if self.offset else ""
        return f"{self.factor:g}{term}{offset}".removeprefix("1 * ")


CONSTANT = Basis("1")


def _bases(dimensions: int) -> Iterator[Basis]:
    yield CONSTANT
    for count in range(1, dimensions):
        for chosen in itertools.combinations(range(dimensions), count):
            text = " ".join("xyz"[k] for k in chosen)
            text = text if count == 1 else f"({text})"
            for sign, operator in ((-1.0, "/"), (1.0, "*")):
                powers = tuple(sign if k in chosen else 0.0 for k in range(dimensions))
                yield Basis(f"{operator} {text}", powers=powers)
    yield Basis("/ P", -1)
    yield Basis("* P", 1)
    yield Basis("* (P - 1)", 1, shift=-1)
    yield Basis("/ (P - 1)", -1, shift=-1)
    for powers, text in _single_sizes(dimensions):
        yield Basis(f"* ({text} - 1)", powers=powers, shift=-1)
    for powers, text in ((), "P"), *_single_sizes(dimensions):
        yield Basis(f"* log2({text})", 0 if powers else 1, powers, "exact")
        yield Basis(f"* ceil(log2({text}))", 0 if powers else 1, powers, "ceil")
    for power, text in ((1 / 2, "1/2"), (1 / 3, "1/3"), (2 / 3, "2/3")):
        yield Basis(f"/ P^({text})", -power)
        yield Basis(f"* P^({text})", power)
    yield Basis("/ P^2", -2)
    for powers, text in _single_sizes(dimensions):
        yield Basis(f"/ (P {text})", -1, tuple(-power for power in powers))
        yield Basis(f"/ {text}^2", powers=tuple(-2 * power for power in powers))


def _single_sizes(dimensions: int) -> tuple[tuple[tuple[float, ...], str], ...]:
    """The powers of each size alone, and its name."""
    if dimensions == 1:
        return ()
    return tuple(
        (tuple(float(other == k) for other in range(dimensions)), "xyz"[k]) for k in range(dimensions)
    )


def count_laws(values: Mapping[int, int], dims: Mapping[int, Dims]) -> Iterator[Law]:
    """The laws that give all numbers of iterations exactly, the simplest first: those with whole coefficients
    come before fractions, which need three observations."""
    observed = {ranks: float(value) for ranks, value in values.items()}
    fractions = []
    for law in _laws(observed, dims):
        for divisor in DIVISORS if len(values) > 2 else DIVISORS[:1]:
            rounded = Law(law.basis, round(law.factor * divisor) / divisor, round(law.offset))
            if rounded.factor and all(
                abs(rounded.at(ranks, dims[ranks]) - value) < WHOLE for ranks, value in observed.items()
            ):
                if divisor == 1:
                    yield rounded
                else:
                    fractions.append(rounded)
                break
    yield from fractions


def fit_count_law(values: Mapping[int, int], dims: Mapping[int, Dims]) -> Law | None:
    """The simplest law of numbers of iterations. One that gives all of them comes first. Large numbers, which
    the data of a program determine, may differ slightly from their law."""
    if len(set(values.values())) > 1:
        law = next(count_laws(values, dims), None)
        if law is not None or min(values.values()) * APPROXIMATE < 1:
            return law
    return fit_law({ranks: float(value) for ranks, value in values.items()}, dims)


DIVISORS = (1, 2, 3, 4, 8)
"""Denominators of the factors of numbers of iterations."""
WHOLE = 1e-6
"""Difference of a number of iterations that is due to floating-point arithmetic."""


def fit_law(
    values: Mapping[int, float],
    dims: Mapping[int, Dims],
    tolerance: float = APPROXIMATE,
    *,
    unlikely: Sequence[int] = (),
) -> Law | None:
    """The simplest law of the values by number of ranks. One coefficient needs two observations, an offset as
    well three. A law that is exact comes before one that is not; None if the error of the best one is larger
    than the tolerance. Of exact laws with equally many coefficients, one without the `unlikely` dimensions of
    the grid comes first."""
    counts = sorted(values)
    observed = np.array([values[ranks] for ranks in counts], dtype=float)
    if len(set(observed.tolist())) == 1:
        return Law(CONSTANT, float(observed[0])) if len(counts) > 1 or observed[0] == 0 else None
    best: Law | None = None
    for law in _laws(values, dims):
        if best is not None and best.is_exact:
            if (law.offset != 0) != (best.offset != 0):
                break
            if law.is_exact and not law.basis.depends_on(unlikely):
                return law
        elif (
            law.error <= tolerance
            and (law.is_exact or law.is_safe)
            and (best is None or law.error < best.error / 2)
        ):
            best = law
            if best.is_exact and not best.basis.depends_on(unlikely):
                return best
    return best
    return best


def transferred_law(values: Mapping[int, float], dims: Mapping[int, Dims], laws: Sequence[Law]) -> Law | None:
    """One of the exact laws of similar values, with the dimensions of the grid in another order, that gives
    these values as well. Messages along the rows of a grid have the law of those along its columns; fewer
    observations are enough to recognize it than to find it."""
    if len(set(values.values())) < 2:
        return None
    for law in laws:
        for order in itertools.permutations(range(len(law.basis.powers))):
            powers = tuple(law.basis.powers[k] for k in order)
            text = re.sub("[xyz]", lambda size: "xyz"[order.index("xyz".index(size[0]))], law.basis.text)  # noqa: B023
            same = replace(law, basis=replace(law.basis, powers=powers, text=text))
            if all(_error(same.at(ranks, dims[ranks]), each) <= EXACT for ranks, each in values.items()):
                return same
    return None


ROUGH = 1.0
"""The largest relative error of a law for sizes that depend on the program's data."""
LAST_OF_FEW = 2.0
"""How much larger errors on more ranks are than those of observations predicted from the others."""


def fit_rough_law(values: Mapping[int, float], dims: Mapping[int, Dims]) -> Law | None:
    """A law of sizes that depend on the program's data, or on divisions with large remainders: one
    coefficient, and not larger on more ranks. Its error is an estimate for other numbers of ranks; None if
    it is too large."""
    best: Law | None = None
    for law in _laws(values, dims):
        grows = law.basis.power > 0 or max(law.basis.powers, default=0.0) > 0
        if law.is_safe and not law.offset and not grows and (best is None or law.error < best.error):
            best = law
    if best is None or best.error * LAST_OF_FEW > ROUGH or len(values) < MIN_ROUGH:
        return None
    return replace(best, error=best.error * LAST_OF_FEW)


MIN_ROUGH = 3
"""Fewer observations give no error that means anything."""


def _laws(values: Mapping[int, float], dims: Mapping[int, Dims]) -> Iterator[Law]:
    """All laws, the simplest first, with the coefficients that fit the values best."""
    counts = sorted(values)
    observed = np.array([values[ranks] for ranks in counts], dtype=float)
    for with_offset in (False, True):
        if len(counts) < (3 if with_offset else 2):
            continue
        for basis in _bases(len(dims[counts[0]])):
            if with_offset and basis is CONSTANT:
                continue
            law = _fitted(basis, counts, observed, dims, with_offset)
            if law is not None:
                yield law


def _fitted(
    basis: Basis, counts: Sequence[int], observed: np.ndarray, dims: Mapping[int, Dims], with_offset: bool
) -> Law | None:
    values = np.array([basis.at(ranks, dims[ranks]) for ranks in counts])
    if with_offset and len(np.unique(values)) < 3:
        return None
    error = 0.0
    for k in range(len(counts)):
        others = np.arange(len(counts)) != k
        factor, offset = _coefficients(values[others], observed[others], with_offset)
        error = max(error, _error(factor * values[k] + offset, observed[k]))
    factor, offset = _coefficients(values, observed, with_offset)
    return Law(basis, factor, offset, error)


def _coefficients(values: np.ndarray, observed: np.ndarray, with_offset: bool) -> tuple[float, float]:
    """The factor and the offset with the smallest relative errors."""
    weight = 1 / np.maximum(np.abs(observed), 1.0)  # Smaller counts and bytes are rounded to 0.
    if not with_offset:
        return float((values * observed * weight**2).sum() / max((values**2 * weight**2).sum(), 1e-300)), 0.0
    rows = np.stack([values, np.ones(len(values))], axis=1) * weight[:, None]
    factor, offset = np.linalg.lstsq(rows, observed * weight, rcond=None)[0]
    return float(factor), float(offset)


def _error(predicted: float, value: float) -> float:
    """The relative error; differences below one, of counts and bytes, are due to rounding."""
    difference = abs(predicted - value)
    return 0.0 if difference < 1 else difference / max(abs(value), 1e-300)


# Sizes in loops whose number of iterations depends on the number of ranks.

REMAINDER = 0.1
"""Relative difference of sizes that is due to a division with a remainder."""
Pattern = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""A relative size from the rank, the number of ranks, the iteration and the number of iterations."""


@dataclass(frozen=True)
class SizePattern:
    """How sizes depend on the rank and the iteration."""

    text: str
    at: Pattern


def _doubled(every: int, sign: int) -> Pattern:
    return lambda rank, ranks, k, count: 2.0 ** (sign * (k // every))


def _descendants(rank: np.ndarray, ranks: np.ndarray, k: np.ndarray, count: np.ndarray) -> np.ndarray:
    return np.where(rank > 0, np.minimum(rank & -rank, ranks - rank), ranks)


SIZE_PATTERNS: tuple[SizePattern, ...] = (
    SizePattern("the same in all iterations", lambda rank, ranks, k, count: np.ones(np.shape(k))),
    *(
        SizePattern(f"{text} in each {every}th iteration", _doubled(every, sign))
        for every in (1, 2, 3, 4, 6)
        for text, sign in (("doubled", 1), ("halved", -1))
    ),
    SizePattern("halved to 1", lambda rank, ranks, k, count: 2.0 ** np.maximum(count - 1 - k, 0)),
    SizePattern("decreasing", lambda rank, ranks, k, count: np.maximum(count - k, 1)),
    SizePattern("decreasing to 2", lambda rank, ranks, k, count: np.maximum(count + 1 - k, 1)),
    SizePattern("increasing", lambda rank, ranks, k, count: k + 1),
    SizePattern("of a rank and those below it in a binomial tree", _descendants),
)


def has_pattern(scaled: np.ndarray) -> bool:
    """Whether sizes relative to their pattern are the same, up to remainders of divisions."""
    return float(np.ptp(scaled)) <= max(1.0, REMAINDER * float(np.abs(scaled).max(initial=0.0)))
