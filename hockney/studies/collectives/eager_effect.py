# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What the eager limit changes: a message's time with each limit over its time with MPI's own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from hockney.core.fit import Estimate
from hockney.core.wording import join_words, plural
from hockney.draw.figure import Axis, Figure
from hockney.draw.page import Section, Table
from hockney.models.significance import widened
from hockney.models.statistics import (
    OPEN,
    Observation,
    Turns,
    Verdict,
    stricter,
    verdict,
)
from hockney.pages.evidence import Evidence, Measured
from hockney.pages.format import quantity
from hockney.pages.series import times
from hockney.studies.collectives.eager import OWN, limit_of

BySize = dict[int, Observation]
"""Of one setting."""


@dataclass(frozen=True)
class EagerLimit:
    """A limit (bytes), and the pingpong's time with it relative to its time with MPI's own limit: `by_size`,
    and the geometric mean over all sizes, `over_all`, with the intervals that the verdicts use: among the
    sizes of all limits, and among the limits."""

    limit: int
    setting: str
    by_size: dict[int, Estimate]
    over_all: Estimate


@dataclass(frozen=True)
class EagerEffect:
    evidence: Evidence

    @classmethod
    def of(cls, evidence: Evidence) -> EagerEffect:
        return evidence.cached(cls)

    @cached_property
    def measured(self) -> dict[str, list[Measured]]:
        """The pingpongs with each setting."""
        found: dict[str, list[Measured]] = {}
        for m in self.evidence.measured:
            if m.case.workload == "pingpong" and m.case.setting.startswith("eager-"):
                found.setdefault(m.case.setting, []).append(m)
        return found

    @cached_property
    def limits(self) -> tuple[EagerLimit, ...]:
        """Ascending; empty without times of MPI's own limit."""
        named = {name: [self._observed(each)] for name, each in self.measured.items()}
        if OWN not in named:
            return ()
        own = named[OWN][0]
        nearest = self.evidence.levels[0]
        if ordinary := self._observed(nearest.of("pingpong", buffers="hot", ranks=2)):
            named[OWN].append(ordinary)
        known = {
            (limit, setting): sizes
            for setting, (of, *_) in named.items()
            if (sizes := sorted(own.keys() & of.keys())) and (limit := limit_of(setting)) is not None
        }
        among = stricter(len(known))
        found = []
        for (limit, setting), sizes in sorted(known.items()):
            of_all = stricter(len(known) * len(sizes))
            by_size = {size: widened(_turns(named, size).ratio(setting, OWN), of_all) for size in sizes}
            mean = widened(Turns.of_means(_complete(named, sizes), sizes).ratio(setting, OWN), among)
            found.append(EagerLimit(limit, setting, by_size, mean))
        return tuple(found)

    def _observed(self, measured: Iterable[Measured]) -> BySize:
        return {int(o.size): o for o in self.evidence.observed(m.case for m in measured)}

    @property
    def best(self) -> EagerLimit | None:
        """The limit with the smallest mean; None if that is not significantly below 1."""
        known = [each for each in self.limits if self.verdict(each) == "faster"]
        return min(known, key=lambda each: each.over_all.value, default=None)

    def verdict(self, each: EagerLimit, size: int | None = None) -> Verdict:
        """Whether messages with one of the limits are faster or slower than with MPI's own: of this size,
        or on average over all sizes."""
        return verdict(each.over_all if size is None else each.by_size[size])

    def sizes(self, each: EagerLimit, wanted: Verdict) -> list[int]:
        """The sizes at which one of the limits is faster, or slower."""
        return [size for size in each.by_size if self.verdict(each, size) == wanted]


def _complete(named: Mapping[str, Sequence[BySize]], sizes: Iterable[int]) -> dict[str, list[BySize]]:
    """The settings, and those of their observations, that have all of these sizes."""
    found = {name: [each for each in same if each.keys() >= set(sizes)] for name, same in named.items()}
    return {name: same for name, same in found.items() if same}


def _turns(named: Mapping[str, Sequence[BySize]], size: int) -> Turns:
    return Turns.of({name: [of[size] for of in same] for name, same in _complete(named, [size]).items()})


def sentence(evidence: Evidence) -> str:
    effect = EagerEffect.of(evidence)
    if not effect.limits:
        return ""
    best = effect.best
    sizes = sorted({size for each in effect.limits for size in each.by_size})
    span = f"{quantity(sizes[0], 'B')} to {quantity(sizes[-1], 'B')}"
    if best is None:
        gains = [(size, each) for each in effect.limits for size in effect.sizes(each, "faster")]
        if not gains:
            better = f"none of those tried is significantly better than MPI's own, {span}"
            return f"Eager limit: {better}{_undecided(effect)}."
        size, each = min(gains, key=lambda gain: gain[1].by_size[gain[0]].value)
        limit, share = quantity(each.limit, "B"), _words(each.by_size[size])
        return (
            f"Eager limit: with {limit}, a message of {quantity(size, 'B')} takes {share} of the time with "
            f"MPI's own limit, but none of those tried is better on average over {span}{_undecided(effect)}."
        )
    text = (
        f"Eager limit: {quantity(best.limit, 'B')} is best here, {_words(best.over_all)} of the time with "
        f"MPI's own over {span}"
    )
    gained = _range(effect.sizes(best, "faster"), sizes)
    lost = _range(effect.sizes(best, "slower"), sizes)
    if gained:
        text += f"; it is faster for messages of {gained}"
    if lost:
        text += f", slower for {lost}"
    return text + "."


def _undecided(effect: EagerEffect) -> str:
    """ "; 2 of 4 limits are undecided", on average over the sizes."""
    count = sum(effect.verdict(each) in OPEN for each in effect.limits)
    verb = "is" if count == 1 else "are"
    return f"; {count} of {plural(len(effect.limits), 'limit')} {verb} undecided" if count else ""


def _words(value: Estimate) -> str:
    bounds = "" if value.low is None or value.high is None else f" (95%: {value.low:.0%} to {value.high:.0%})"
    return f"{value.value:.0%}{bounds}"


def _range(sizes: list[int], among: list[int]) -> str:
    """ "4 KiB to 16 KiB" if they are next to each other among all, otherwise each."""
    if not sizes:
        return ""
    first = among.index(sizes[0])
    if len(sizes) > 1 and among[first : first + len(sizes)] == sizes:
        return f"{quantity(sizes[0], 'B')} to {quantity(sizes[-1], 'B')}"
    return join_words([quantity(size, "B") for size in sizes])


def section(evidence: Evidence) -> Section | None:
    effect = EagerEffect.of(evidence)
    if not effect.limits:
        return None
    order = [OWN, *(each.setting for each in effect.limits)]
    series = [times(_name(name, effect), effect.measured[name]) for name in order]
    figure = Figure(
        "eager",
        "Time of a message with other eager limits",
        Axis("message size", "B"),
        Axis("time", "s"),
        tuple(series),
        "Ping-pong; launches with the settings alternated.",
    )
    return Section(
        "The eager limit",
        text=(
            "Up to the eager limit, a message is sent before its receiver is ready and copied there; longer "
            "ones wait for the receiver. Each limit was set by the MPI's own variables, listed with the "
            "environment; on the T3E, 4096 B was best.",
        ),
        figures=(figure,),
        tables=(_table(effect),),
    )


def _name(setting: str, effect: EagerEffect) -> str:
    if setting == OWN:
        return "MPI's own"
    return next((quantity(each.limit, "B") for each in effect.limits if each.setting == setting), setting)


def _table(effect: EagerEffect) -> Table:
    sizes = sorted({size for each in effect.limits for size in each.by_size})
    rows = tuple(
        (quantity(size, "B"), *(_cell(effect, each, size) for each in effect.limits)) for size in sizes
    )
    last = ("all, mean", *(_cell(effect, each) for each in effect.limits))
    columns = ("message", *(quantity(each.limit, "B") for each in effect.limits))
    return Table(
        "eager",
        "Time relative to that with MPI's own limit",
        columns,
        (*rows, last),
        numeric=tuple(range(len(columns))),
        caption="With 95% intervals; below 1, the limit is faster than MPI's own. ?: undecided, the interval "
        "does not show whether the times differ by 5%.",
    )


def _cell(effect: EagerEffect, each: EagerLimit, size: int | None = None) -> str:
    """The cell of one size, or of the mean over all sizes."""
    value = each.over_all if size is None else each.by_size.get(size)
    if value is None:
        return ""
    bounds = "" if value.low is None or value.high is None else f" ({value.low:.2f} to {value.high:.2f})"
    mark = " ?" if effect.verdict(each, size) in OPEN else ""
    return f"{value.value:.2f}{bounds}{mark}"
