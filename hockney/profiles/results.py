# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer of a profile: the explanation of its typical launch, its efficiencies, intervals over launches,
and the headline. Findings that recording may have caused are withheld: those smaller than what recording the
calls cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from hockney.core.fit import Estimate, Surveyed
from hockney.core.units import format_number
from hockney.core.wording import join_words, plural
from hockney.draw.page import Caveat
from hockney.pages.format import percent, quantity, share_interval
from hockney.profiles.call_sites import CallSite
from hockney.profiles.efficiencies import Efficiencies, efficiencies, over_launches
from hockney.profiles.explanation import LEAST_EXCESS, Explanation, Parts, Row, explain
from hockney.profiles.launching import measured_overhead
from hockney.profiles.live import live_of
from hockney.profiles.machine_costs import MachineCosts
from hockney.profiles.operations import COLLECTIVES
from hockney.profiles.profile import Launch, Profile
from hockney.profiles.rank_file import RankFiles, rank_list
from hockney.profiles.waits import Waiting

SMALL = 0.01
"""A smaller share of the time is not worth attention."""
MOSTLY = 0.5
"""From this share on, waiting is mostly for one rank."""
SHORT_S = 0.05
"""Shorter runs show the start of the program rather than its course."""


@dataclass(frozen=True)
class ProfileResults:
    """`explanations` are those of the profile's launches, in their order."""

    profile: Profile
    explanations: tuple[Explanation, ...]

    @cached_property
    def explanation(self) -> Explanation:
        """That of the typical launch."""
        typical = self.profile.typical
        return next(each for each in self.explanations if each.launch is typical)

    @property
    def launch(self) -> Launch:
        return self.explanation.launch

    @property
    def total(self) -> Parts:
        return self.explanation.total

    @cached_property
    def efficiencies(self) -> Efficiencies:
        return efficiencies(self.launch)

    @property
    def costs(self) -> MachineCosts | None:
        return self.explanation.costs

    def site(self, row: Row) -> CallSite:
        return self.explanation.site(row)

    def label(self, rank: int) -> str:
        """The number of the rank at a place in the launch."""
        return self.launch.ranks[rank].label

    def over_launches(self, value: Callable[[Launch], float]) -> Estimate:
        return over_launches(self.profile.launches, value)

    def part_share(self, value: Callable[[Parts], float]) -> Estimate:
        """A share of the time in MPI, over all launches."""
        shares = {
            id(each.launch): value(each.total) / (each.total.total or 1.0) for each in self.explanations
        }
        return self.over_launches(lambda launch: shares[id(launch)])

    @cached_property
    def elapsed(self) -> Estimate:
        return self.over_launches(lambda launch: launch.elapsed_s)

    @cached_property
    def mpi_share(self) -> Estimate:
        """The share of the ranks' time in MPI."""
        return self.over_launches(lambda launch: launch.mpi_share)

    @cached_property
    def recording_share(self) -> float:
        """What recording cost, relative to the elapsed time of all ranks."""
        total = self.launch.total_s
        return self.explanation.recording_s / total if total > 0 else 0.0

    @cached_property
    def overhead(self) -> Estimate | None:
        """The elapsed time of launches with the library, relative to that without, if there are such
        launches, as the launcher saw it."""
        measured = measured_overhead(self.profile.manifest)
        return None if measured is None else measured.ratio

    @cached_property
    def causes(self) -> tuple[Waiting, ...]:
        """Who waits where for whom, without what recording may have caused."""
        cost = {(row.site, row.function): row.recording_s for row in self.explanation.rows}
        waits = self.explanation.waits
        return tuple(
            each for each in waits.causes if each.seconds > cost.get((each.site, each.function), 0.0)
        )

    @cached_property
    def first(self) -> Row | None:
        """The call site to look at first: that with most time beyond the machine's price, if that is notable;
        otherwise the longest."""
        rows = self.explanation.rows
        whole = self.total.total

        def gain(row: Row) -> float:
            beyond = row.parts.waiting + row.parts.excess
            return beyond if beyond > row.recording_s else 0.0

        best = max(rows, key=gain, default=None)
        if best is not None and gain(best) >= 0.1 * whole:
            return best
        return rows[0] if rows else None

    @cached_property
    def notable_excess(self) -> tuple[Row, ...]:
        """Call sites with a notable excess."""
        whole = self.total.total
        return tuple(
            row
            for row in self.explanation.rows
            if row.parts.excess > max(LEAST_EXCESS * whole, row.recording_s)
        )

    @cached_property
    def caveats(self) -> tuple[Caveat, ...]:
        found = {each.code: each for each in (*self.profile.caveats, *self.explanation.caveats)}
        if self.launch.elapsed_s < SHORT_S:
            found["short-run"] = Caveat(
                "short-run",
                f"the program ran for {quantity(self.launch.elapsed_s, 's')} only",
                "all shares, which are those of its start",
                "profile a longer run",
            )
        if self.recording_share > SMALL:
            found["recording-overhead"] = Caveat(
                "recording-overhead",
                f"recording took about {percent(self.recording_share)} of the time",
                "all times; findings smaller than the cost of recording are withheld",
                "'--overhead' measures it on the whole program",
            )
        return tuple(found.values())

    @cached_property
    def unseparated(self) -> tuple[tuple[str, float], ...]:
        """Why time is not separated, with the seconds of which that is the first reason, the longest
        first."""
        found: dict[str, float] = {}
        for row in self.explanation.rows:
            if row.reasons and row.parts.not_separated > 0:
                found[row.reasons[0]] = found.get(row.reasons[0], 0.0) + row.parts.not_separated
        return tuple(sorted(found.items(), key=lambda item: -item[1]))

    @cached_property
    def headline(self) -> tuple[str, ...]:
        return tuple(_headline(self))

    def where(self, row: Row) -> str:
        """ "MPI_Allreduce (solver.c:120 solve)"."""
        site = self.site(row).text
        return f"MPI_{row.name}" + (f" ({site})" if site != "unknown" else "")


def results_of(profile: Profile, surveyed: Surveyed | None = None) -> ProfileResults:
    """The answer of a profile, with the survey of its machine if there is one."""
    explanations = []
    for launch in profile.launches:
        costs = MachineCosts(surveyed, launch.hosts) if surveyed is not None else None
        explanations.append(explain(launch, costs, cores=profile.cores))
    return ProfileResults(profile, tuple(explanations))


def _headline(results: ProfileResults) -> Iterator[str]:
    launch, total = results.launch, results.total
    ranks = plural(len(launch.ranks), "rank")
    elapsed = quantity(results.elapsed.value, "s")
    share = results.mpi_share
    bounds = share_interval(share)
    yield (
        f"The {ranks} spend {percent(share.value)}{f' (95%: {bounds})' if bounds else ''} of {elapsed} in "
        "MPI."
    )
    if not all(rank.finished for rank in launch.ranks):
        yield from _last(results)
    elif share.value < SMALL and results.explanation.rows:
        yield "Communication hardly matters."
        yield from _balance(results)
        return
    if not results.explanation.rows:
        yield "No calls were recorded."
        return
    yield from _of_parts(results)
    first = results.first
    if first is not None:
        yield _first(results, first)
    yield from _slow(results)
    yield from _balance(results)
    if total.total and results.explanation.recording_s > total.waiting + total.excess > 0:
        yield "Waiting and excess are smaller than the cost of recording, so that they are not reported."


def _balance(results: ProfileResults) -> Iterator[str]:
    balance, launch = results.efficiencies, results.launch
    if balance.load_balance < 1 - 5 * SMALL:
        slowest = launch.ranks[balance.slowest_rank]
        yield (
            f"Load balance is {percent(balance.load_balance)}: rank {slowest.label} computes longest, "
            f"{quantity(slowest.outside_s, 's')} of {quantity(launch.elapsed_s, 's')}."
        )


def _last(results: ProfileResults) -> Iterator[str]:
    """What ranks did that did not reach MPI_Finalize."""
    launch = results.launch
    read = RankFiles(launch.files)
    live = live_of(read, launch.entry, launch.functions, now_ns=None, ended=True)
    yield from (finding.text for finding in live.findings[:3])


def _of_parts(results: ProfileResults) -> Iterator[str]:
    """How much of the time in MPI is this machine's price, and how much is waiting, for whom."""
    total = results.total
    whole = total.total or 1.0
    parts = []
    if results.costs is not None:
        parts.append(f"{percent(total.machine / whole)} is this machine's price for the messages")
    if results.explanation.waits.believed:
        parts.append(f"{percent(total.waiting / whole)} is waiting{_for_whom(results)}")
    if total.excess / whole >= SMALL and total.excess > results.explanation.recording_s:
        parts.append(f"{percent(total.excess / whole)} is more than this machine need take")
    if total.not_separated / whole >= SMALL:
        parts.append(f"{percent(total.not_separated / whole)} is not separated")
    if parts:
        yield f"Of the time in MPI, {join_words(parts)}."


def _for_whom(results: ProfileResults) -> str:
    waits = results.explanation.waits
    caused = waits.caused_by(len(results.launch.ranks))
    whole = float(caused.sum())
    if not whole or waits.total_s < SMALL * results.total.total:
        return ""
    rank = int(caused.argmax())
    share = float(caused[rank]) / whole
    count = len(results.launch.ranks)
    if (share >= MOSTLY and count > 2) or share >= 0.75:
        return f" ({percent(share)} of it for rank {results.label(rank)})"
    order = caused.argsort()[::-1]
    few = [int(k) for k in order[: max(1, count // 4)]]
    of_few = float(caused[few].sum()) / whole
    if of_few >= MOSTLY and count >= 8:
        numbers = rank_list(results.launch.ranks[k].rank for k in few)
        return f" ({percent(of_few)} of it for {numbers})"
    return ", for different ranks in turn"


def _first(results: ProfileResults, row: Row) -> str:
    whole = results.total.total or 1.0
    text = f"Look first at {results.where(row)}: {percent(row.seconds / whole)} of the time in MPI"
    parts = row.parts
    causes = [each for each in results.causes if (each.site, each.function) == (row.site, row.function)]
    if parts.waiting >= 0.1 * row.seconds and parts.waiting > row.recording_s and causes:
        text += f", of which {percent(parts.waiting / row.seconds)} is waiting{_cause(results, causes)}"
    elif parts.excess >= 0.1 * row.seconds and parts.excess > row.recording_s:
        text += f", of which {percent(parts.excess / row.seconds)} is more than this machine need take"
        if row.typically_slow is None:
            text += ", in few long calls"
    elif row.price_s is not None and parts.machine >= 0.5 * row.seconds:
        text += ", which is this machine's price: fewer or shorter messages would help"
    elif row.reasons and parts.not_separated >= 0.5 * row.seconds:
        text += f", which is not separated: {row.reasons[0]}"
    return f"{text}."


def _cause(results: ProfileResults, causes: list[Waiting]) -> str:
    by_rank: dict[int, float] = {}
    for each in causes:
        by_rank[each.by_rank] = by_rank.get(each.by_rank, 0.0) + each.seconds
    rank = max(by_rank, key=by_rank.__getitem__)
    share = by_rank[rank] / sum(by_rank.values())
    if share < MOSTLY:
        return " for different ranks"
    late = next(each for each in causes if each.by_rank == rank)
    site = results.launch.sites[late.by_site]
    text = f" for rank {results.label(rank)}"
    if late.kind == "late sender":
        return f"{text}, which sends late (at {site.place})"
    if late.kind == "late receiver":
        return f"{text}, which receives late (at {site.place})"
    return f"{text}, which arrives last"


def _slow(results: ProfileResults) -> Iterator[str]:
    """Operations that are typically slower than the survey measured; or else that few calls are long."""
    whole = results.total.total or 1.0
    excess: dict[str, float] = {}
    factors: dict[str, float] = {}
    for row in results.notable_excess:
        factor = row.typically_slow
        if factor is not None:
            excess[row.operation] = excess.get(row.operation, 0.0) + row.parts.excess
            factors[row.operation] = max(factor, factors.get(row.operation, 0.0))
    for operation, seconds in sorted(excess.items(), key=lambda item: -item[1])[:2]:
        advice = (
            "'hockney run tuning' and 'hockney tune' look for a faster algorithm, and 'hockney run "
            "guidelines' for a faster way to the same result"
            if operation in COLLECTIVES
            else "'hockney survey' shows whether the machine has become slower"
        )
        yield (
            f"MPI_{operation} typically takes {format_number(factors[operation], 2)} times what the survey "
            f"measured back to back, apart from waiting: {percent(seconds / whole)} of the time in MPI. "
            f"{advice}."
        )
    others = sum(row.parts.excess for row in results.notable_excess if row.typically_slow is None)
    if others >= LEAST_EXCESS * whole:
        yield (
            f"{percent(others / whole)} of the time in MPI is in few long calls of operations that are "
            "usually as fast as surveyed, as if ranks had been interrupted: by other programs, or by the "
            "system."
        )
