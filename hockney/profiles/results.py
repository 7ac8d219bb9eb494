# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The result of a profile: the explanation of its typical launch, its efficiencies, intervals over launches,
and the headline. Findings that are smaller than the cost of recording the calls are withheld, because
recording may have caused them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from hockney.core.fit import Estimate, UsedSurvey
from hockney.core.units import format_number, format_percent
from hockney.core.wording import join_words
from hockney.draw.page import Caveat
from hockney.pages.format import format_share, quantity, share_interval
from hockney.profiles.call_sites import CallSite
from hockney.profiles.efficiencies import Efficiencies, efficiencies, over_values
from hockney.profiles.explanation import MIN_EXCESS, Explanation, Parts, Reason, Row, explain
from hockney.profiles.launching import measure_overhead
from hockney.profiles.live import live_state
from hockney.profiles.machine_costs import MachineCosts
from hockney.profiles.operations import COLLECTIVES
from hockney.profiles.profile import Launch, Profile
from hockney.profiles.rank_file import rank_list
from hockney.profiles.waits import Waiting

SMALL_SHARE = 0.01
"""A smaller share of the time is not worth attention."""
MAIN_SHARE = 0.5
"""From this share on, waiting is mostly for one rank."""
SHORT_S = 0.05
"""Shorter runs show the start of the program rather than its course."""


@dataclass(frozen=True)
class ProfileResults:
    """The profile with the explanations of its launches, in the order of the launches."""

    profile: Profile
    explanations: tuple[Explanation, ...]

    @cached_property
    def explanation(self) -> Explanation:
        """The explanation of the typical launch."""
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
        """The number of the rank with an index in the launch."""
        return self.launch.ranks[rank].label

    def over_launches(self, value: Callable[[Launch], float]) -> Estimate:
        """The centre and interval of a quantity over the launches."""
        return over_values([value(launch) for launch in self.profile.launches])

    def part_share(self, value: Callable[[Parts], float]) -> Estimate:
        """A share of the time in MPI, over all launches."""
        return over_values([value(each.total) / (each.total.total or 1.0) for each in self.explanations])

    @cached_property
    def elapsed(self) -> Estimate:
        return self.over_launches(lambda launch: launch.elapsed_s)

    @cached_property
    def mpi_share(self) -> Estimate:
        """The share of the ranks' time in MPI."""
        return self.over_launches(lambda launch: launch.mpi_share)

    @cached_property
    def recording_share(self) -> float:
        """The cost of recording relative to the elapsed time of all ranks; NaN if unknown."""
        total = self.launch.total_s
        return self.explanation.recording_s / total if total > 0 else 0.0

    @cached_property
    def overhead(self) -> Estimate | None:
        """The elapsed time of launches with the library relative to launches without it, as measured at the
        launcher; None if there were none without it."""
        measured = measure_overhead(self.profile.manifest)
        return None if measured is None else measured.ratio

    @cached_property
    def withheld(self) -> bool:
        """Whether waiting and excess together are smaller than the cost of recording, and thus not
        reported."""
        return self.explanation.recording_s > self.total.waiting + self.total.excess > 0

    @property
    def is_reliable(self) -> bool:
        """Whether waiting and the balance of the ranks are properties of the program, and not caused by a
        lack of processors."""
        return self.explanation.waits.is_reliable

    @cached_property
    def causes(self) -> tuple[Waiting, ...]:
        """Who waits where for whom, without what recording may have caused."""
        if self.withheld:
            return ()
        cost = {(row.site, row.function): row.recording_s for row in self.explanation.rows}
        waits = self.explanation.waits
        return tuple(
            each for each in waits.causes if each.seconds > cost.get((each.site, each.function), 0.0)
        )

    @cached_property
    def first(self) -> Row | None:
        """The call site to examine first: the one with most time beyond the machine's price, if that is
        notable; otherwise the longest one."""
        rows = self.explanation.rows
        whole = self.total.total

        def gain(row: Row) -> float:
            beyond = row.parts.waiting + row.parts.excess
            return beyond if beyond > row.recording_s and not self.withheld else 0.0

        best = max(rows, key=gain, default=None)
        if best is not None and gain(best) >= 0.1 * whole:
            return best
        return rows[0] if rows else None

    @property
    def largest(self) -> Row | None:
        """The call site with the most time."""
        return next(iter(self.explanation.rows), None)

    @cached_property
    def notable_excess(self) -> tuple[Row, ...]:
        """Call sites with a notable excess."""
        whole = self.total.total
        return tuple(
            row
            for row in self.explanation.rows
            if row.parts.excess > max(MIN_EXCESS * whole, row.recording_s) and not self.withheld
        )

    @cached_property
    def slow(self) -> tuple[SlowOperation, ...]:
        """Operations that are typically slower than in the survey, sorted by excess."""
        rows: dict[str, list[Row]] = {}
        for row in self.notable_excess:
            if row.typical_slowdown is not None:
                rows.setdefault(row.operation, []).append(row)
        found = [
            SlowOperation(
                operation,
                sum((row.typical_s or 0.0) * row.calls for row in of) / sum(row.price_s or 0.0 for row in of),
                sum(row.parts.excess for row in of),
            )
            for operation, of in rows.items()
        ]
        return tuple(sorted(found, key=lambda each: -each.excess_s))

    @cached_property
    def caveats(self) -> tuple[Caveat, ...]:
        found = {each.code: each for each in (*self.profile.caveats, *self.explanation.caveats)}
        if self.launch.elapsed_s < SHORT_S:
            found["short-run"] = Caveat(
                "short-run",
                f"the program ran for {quantity(self.launch.elapsed_s, 's')} only",
                "all shares, which describe its start",
                "profile a longer run",
            )
        if self.recording_share > SMALL_SHARE:
            found["recording-overhead"] = Caveat(
                "recording-overhead",
                f"recording took about {format_share(self.recording_share)} of the time",
                "all times; findings smaller than the cost of recording are withheld",
                "'--overhead' measures it on the whole program",
            )
        return tuple(found.values())

    @cached_property
    def unseparated(self) -> tuple[Reason, ...]:
        """The reasons why time is not separated, longest first."""
        found: dict[str, Reason] = {}
        for each in (why for row in self.explanation.rows for why in row.why):
            known = found.get(each.text)
            found[each.text] = replace(each, seconds=each.seconds + (known.seconds if known else 0.0))
        return tuple(sorted(found.values(), key=lambda why: -why.seconds))

    @cached_property
    def headline(self) -> tuple[str, ...]:
        return tuple(_headline(self))

    def where(self, row: Row) -> str:
        """ "MPI_Allreduce (solver.c:120 solve)"."""
        site = self.site(row).text
        return f"MPI_{row.name}" + (f" ({site})" if site != "unknown" else "")


@dataclass(frozen=True)
class SlowOperation:
    """An operation whose typical calls take `factor` times their price, and its excess (s)."""

    operation: str
    factor: float
    excess_s: float


def make_results(profile: Profile, surveyed: UsedSurvey | None = None) -> ProfileResults:
    """The results of a profile, with the survey of its machine if there is one."""
    explanations = []
    for launch in profile.launches:
        costs = MachineCosts(surveyed, launch.hosts) if surveyed is not None else None
        explanations.append(explain(launch, costs, cores=profile.cores))
    return ProfileResults(profile, tuple(explanations))


def _headline(results: ProfileResults) -> Iterator[str]:
    launch = results.launch
    count = len(launch.ranks)
    ranks = "rank spends" if count == 1 else f"{count} ranks spend"
    elapsed = quantity(results.elapsed.value, "s")
    share = results.mpi_share
    bounds = share_interval(share)
    yield (
        f"The {ranks} {format_share(share.value)}{f' (95%: {bounds})' if bounds else ''} of {elapsed} in MPI."
    )
    if not all(rank.finished for rank in launch.ranks):
        yield from _unfinished_sentences(results)
    elif share.value < SMALL_SHARE and results.explanation.rows:
        yield "Communication hardly matters."
        yield from _balance(results)
        return
    if not results.explanation.rows:
        yield "No calls were recorded."
        return
    yield from _of_parts(results)
    first = results.first
    if results.largest is not None and results.largest is not first:
        yield _call_site_sentence(results, results.largest)
    if first is not None:
        yield _call_site_sentence(results, first)
    yield from _slow(results)
    yield from _balance(results)
    if results.withheld:
        yield "Waiting and excess are smaller than the cost of recording, so that they are not reported."


def _balance(results: ProfileResults) -> Iterator[str]:
    balance, launch = results.efficiencies, results.launch
    if not all(rank.finished for rank in launch.ranks):
        return  # how long ranks outside of MPI have computed is not known
    if balance.load_balance < 1 - 5 * SMALL_SHARE:
        slowest = launch.ranks[balance.slowest_rank]
        yield (
            f"Load balance is {format_share(balance.load_balance)}: rank {slowest.label} computes longest, "
            f"{quantity(slowest.outside_s, 's')} of {quantity(launch.elapsed_s, 's')}"
            f"{'' if results.is_reliable else ', which is not reliable, as ranks share cores'}."
        )


def _unfinished_sentences(results: ProfileResults) -> Iterator[str]:
    """What the ranks that did not reach MPI_Finalize were doing."""
    live = live_state(results.launch, ended=True)
    yield from (finding.text for finding in live.findings[:3])


def _of_parts(results: ProfileResults) -> Iterator[str]:
    """The parts of the time in MPI: the cost of messages, waiting, and for whom."""
    total = results.total
    whole = total.total or 1.0
    parts = []
    if results.costs is not None:
        parts.append(f"{format_percent(total.machine / whole, 2)} is the cost of the messages themselves")
    if results.is_reliable and not results.withheld:
        parts.append(f"{format_share(total.waiting / whole)} is waiting{_for_whom(results)}")
    too_small = results.withheld or total.excess <= results.explanation.recording_s
    if total.excess / whole >= SMALL_SHARE and not too_small:
        parts.append(f"{format_share(total.excess / whole)} is slower than the survey measured")
    if total.not_separated / whole >= SMALL_SHARE:
        main = f": {results.unseparated[0].text}" if total.not_separated >= MAIN_SHARE * whole else ""
        parts.append(f"{format_share(total.not_separated / whole)} is not separated{main}")
    if parts:
        yield f"Of the time in MPI, {join_words(parts)}."


def _for_whom(results: ProfileResults) -> str:
    waits = results.explanation.waits
    caused = waits.caused_by(len(results.launch.ranks))
    whole = float(caused.sum())
    if not whole or waits.total_s < SMALL_SHARE * results.total.total:
        return ""
    rank = int(caused.argmax())
    share = float(caused[rank]) / whole
    count = len(results.launch.ranks)
    if (share >= MAIN_SHARE and count > 2) or share >= 0.75:
        return f" ({format_share(share)} of it for rank {results.label(rank)})"
    order = caused.argsort()[::-1]
    few = [int(k) for k in order[: max(1, count // 4)]]
    of_few = float(caused[few].sum()) / whole
    if of_few >= MAIN_SHARE and count >= 8:
        numbers = rank_list(results.launch.ranks[k].rank for k in few)
        return f" ({format_share(of_few)} of it for {numbers})"
    return ", for different ranks in turn"


def _call_site_sentence(results: ProfileResults, row: Row) -> str:
    """The parts of the time of call site `row`, which is the first to examine, or the largest."""
    whole = results.total.total or 1.0
    parts = row.parts
    unknown = parts.not_separated / (row.seconds or 1.0)
    gains = (parts.waiting + parts.excess) >= 0.1 * row.seconds
    lead = "Look first at" if row is results.first and gains else "The longest call site is"
    if row is results.first and row is not results.largest:
        lead = "Of those that can be improved, look first at"
    text = f"{lead} {results.where(row)}: {format_share(row.seconds / whole)} of the time in MPI"
    if results.withheld:
        return f"{text}."
    causes = [each for each in results.causes if (each.site, each.function) == (row.site, row.function)]
    if parts.waiting >= 0.1 * row.seconds and parts.waiting > row.recording_s and causes:
        text += (
            f", of which {format_share(parts.waiting / row.seconds)} is waiting{_cause(results, causes, row)}"
        )
    elif parts.excess >= 0.1 * row.seconds and parts.excess > row.recording_s:
        text += f", of which {format_share(parts.excess / row.seconds)} is slower than the survey measured"
        if row.has_few_slow_calls:
            text += ", in few long calls"
    elif row.price_s is not None and parts.machine >= 0.5 * row.seconds:
        text += ", which is the cost of the messages themselves: fewer or shorter ones would help"
    elif row.why and unknown >= 0.1:
        which = "which" if unknown > 0.995 else f"of which {format_share(unknown)}"
        return f"{text}, {which} is not separated: {row.why[0].text}."
    if row.why and unknown >= MAIN_SHARE:
        text += f"; {format_share(unknown)} is not separated: {row.why[0].text}"
    return f"{text}."


def _cause(results: ProfileResults, causes: list[Waiting], row: Row) -> str:
    by_rank: dict[int, float] = {}
    for each in causes:
        by_rank[each.by_rank] = by_rank.get(each.by_rank, 0.0) + each.seconds
    rank = max(by_rank, key=by_rank.__getitem__)
    share = by_rank[rank] / sum(by_rank.values())
    if share < MAIN_SHARE:
        return " for different ranks"
    late = next(each for each in causes if each.by_rank == rank)
    site = results.launch.sites[late.by_site]
    text = f" for rank {results.label(rank)}"
    at = f" (at {site.place})" if late.by_site else ""
    does = {
        "late_sender": "has not sent" if row.open_calls else f"sends late{at}",
        "late_receiver": "has not received" if row.open_calls else f"receives late{at}",
        "collective": "has not arrived" if row.open_calls else "arrives last",
    }[late.kind]
    return f"{text}, which {does}: {_lateness_reason(results, late, by_rank[rank])}"


def _lateness_reason(results: ProfileResults, late: Waiting, seconds: float) -> str:
    """Reason a rank is late: it computes longer than the others, if that explains their waiting; otherwise a
    hint where to look."""
    rank, ranks = late.by_rank, results.launch.ranks
    others = [each.outside_s for k, each in enumerate(ranks) if k != rank]
    longer = ranks[rank].outside_s - sum(others) / max(1, len(others))
    if all(each.finished for each in ranks) and longer >= MAIN_SHARE * seconds / max(1, len(late.waiting)):
        than = "the others" if len(others) > 1 else "the other"
        return f"it computes {quantity(longer, 's')} longer than {than}"
    return f"look at what rank {results.label(rank)} does before it"


def _slow(results: ProfileResults) -> Iterator[str]:
    """Operations that are typically slower than in the survey, or a note that only a few calls are long."""
    whole = results.total.total or 1.0
    for slow in results.slow[:2]:
        advice = (
            "'hockney run tuning' and 'hockney tune' look for a faster algorithm, and 'hockney run "
            "guidelines' for a faster way to the same result"
            if slow.operation in COLLECTIVES
            else "'hockney survey' shows whether the machine has become slower"
        )
        yield (
            f"MPI_{slow.operation} typically takes {format_number(slow.factor, 2)} times what the survey "
            f"measured back to back, apart from waiting: {format_share(slow.excess_s / whole)} of the time "
            "in "
            f"MPI. {advice}."
        )
    others = sum(row.parts.excess for row in results.notable_excess if row.has_few_slow_calls)
    if others >= MIN_EXCESS * whole:
        yield (
            f"{format_share(others / whole)} of the time in MPI is in few long calls of operations that are "
            "usually as fast as surveyed, as if ranks had been interrupted: by other programs, or by the "
            "system."
        )
