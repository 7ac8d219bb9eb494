# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Explains where the time in MPI went, per call site and in total.

The parts of a call site's time are not negative and add up to it. They are assigned in this order: *waiting*
for other ranks (`waits`); *software overhead*, the processor's time for starting and receiving messages
(LogGP's o) and for calls that need no other rank; *transfer*, the remainder of the surveyed machine's price
of the same calls (`machine_costs`); *contention*, if the survey measured simultaneous messages of many pairs;
and *excess*, the time beyond the upper bound of the price's 95% band. Time that cannot be assigned is *not
separated*, with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from hockney.core.units import format_percent
from hockney.core.wording import plural, verb_form
from hockney.draw.page import Caveat
from hockney.profiles.call_sites import CallSite
from hockney.profiles.live import open_waits
from hockney.profiles.machine_costs import PREDICTED, ZERO_PRICE, MachineCosts, Price
from hockney.profiles.operations import Kind, blocking, kind_of, recording_kind
from hockney.profiles.profile import Launch, group_rows, quantile_s
from hockney.profiles.rank_file import COLLECTIVE, NETWORK, NODE, SEND
from hockney.profiles.waits import KINDS, WAITS, Waits, find_waits, open_rows

MIN_EXCESS = 0.02
"""The share of the time in MPI from which a call site's excess is worth a sentence."""
MIN_AMBIGUOUS_SHARE = 0.05
"""The share of the time in MPI from which ambiguous call sites are a caveat."""
MIN_CALLS = 20
"""The minimum number of calls for which a median time is typical."""
EVERY_CALL = 0.3
"""The share of an excess that the median call must explain, for an operation to be called slow."""
BEYOND_PREDICTION = 2.0
"""Collectives whose price is only predicted have an excess beyond this multiple of it."""


@dataclass(frozen=True)
class Parts:
    """The parts of the time in MPI (s)."""

    software: float = 0.0
    transfer: float = 0.0
    late_sender: float = 0.0
    late_receiver: float = 0.0
    collective: float = 0.0
    contention: float = 0.0
    excess: float = 0.0
    not_separated: float = 0.0

    @property
    def waiting(self) -> float:
        return self.late_sender + self.late_receiver + self.collective

    @property
    def machine(self) -> float:
        """The machine's price: software overhead, transfer and contention."""
        return self.software + self.transfer + self.contention

    @property
    def total(self) -> float:
        return sum(getattr(self, field.name) for field in fields(self))

    @staticmethod
    def sum(parts: Iterable[Parts]) -> Parts:
        listed = list(parts)
        return Parts(**{f.name: sum(getattr(each, f.name) for each in listed) for f in fields(Parts)})


PART_NAMES: Mapping[str, str] = {
    "software": "software overhead",
    "transfer": "transfer",
    "late_sender": "late sender",
    "late_receiver": "late receiver",
    "collective": "wait at a collective",
    "contention": "contention",
    "excess": "unexplained excess",
    "not_separated": "not separated",
}
"""The names of the fields of `Parts` for readers."""


@dataclass(frozen=True)
class Reason:
    """Why time is not separated, and how much (s). `code` is a short stable name."""

    code: str
    text: str
    seconds: float = 0.0


@dataclass(frozen=True)
class Row:
    """All calls of a function at a call site, over all ranks: seconds, bytes, and the parts of the time.
    `price_s` and `price_high_s` are the machine's price of all calls and its upper bound, or None. `why`
    contains the reasons why time is not separated, longest first. `recording_s` is the time that recording
    the calls took, and `by_rank` the time of each rank."""

    site: int
    function: int
    name: str
    kind: Kind
    calls: int
    bytes: float
    seconds: float
    least: float
    most: float
    bins: np.ndarray
    parts: Parts
    price_s: float | None
    price_high_s: float | None
    predicted: bool
    why: tuple[Reason, ...]
    recording_s: float
    by_rank: np.ndarray
    open_calls: int = 0
    typical_s: float | None = None
    """The median time of a call without waiting, of the calls that were timed."""

    @property
    def reasons(self) -> tuple[str, ...]:
        return tuple(each.text for each in self.why)

    @property
    def has_few_slow_calls(self) -> bool:
        """Whether only a few of many calls cause the excess."""
        return self.calls >= MIN_CALLS and self.typical_s is not None and self.typical_slowdown is None

    @property
    def typical_slowdown(self) -> float | None:
        """The median time of a call without waiting, relative to the price, if it explains a large part of
        the excess. Otherwise a few calls are long, as if their ranks had been interrupted."""
        if self.typical_s is None or self.calls < MIN_CALLS:
            return None
        if not self.price_s or self.price_high_s is None:
            return None
        every_call = self.typical_s * self.calls - self.price_high_s
        return (
            self.typical_s * self.calls / self.price_s
            if every_call > EVERY_CALL * self.parts.excess
            else None
        )

    @property
    def operation(self) -> str:
        """The operation regardless of how it is called, for example allreduce for MPI_Iallreduce."""
        return blocking(self.name)


@dataclass(frozen=True)
class Point:
    """The calls of one call site with similar sizes and equal distance or communicator: the mean time of a
    call without waiting, and the price (s)."""

    site: int
    name: str
    kind: Kind
    ranks: int
    distance: int
    size: float
    calls: int
    seconds: float
    price: Price


@dataclass(frozen=True)
class Explanation:
    """The rows of a launch, longest first, with the caveats of waiting and of the survey."""

    launch: Launch
    rows: tuple[Row, ...]
    points: tuple[Point, ...]
    waits: Waits
    costs: MachineCosts | None
    caveats: tuple[Caveat, ...]

    @cached_property
    def total(self) -> Parts:
        return Parts.sum(row.parts for row in self.rows)

    @property
    def recording_s(self) -> float:
        """The time that recording took, summed over all ranks; NaN if no rank measured it."""
        return sum(row.recording_s for row in self.rows) if self.launch.overheads else float("nan")

    def site(self, row: Row) -> CallSite:
        return self.launch.sites[row.site]

    @cached_property
    def rank_parts(self) -> list[Parts]:
        """The parts of each rank's time in MPI. Waiting was measured per rank; the other parts are
        distributed evenly over the time at each call site."""
        count = len(self.launch.ranks)
        found = {field.name: np.zeros(count) for field in fields(Parts)}
        waits = self.waits.rows
        for number, kind in enumerate(KINDS):
            of_kind = waits[waits["kind"] == number]
            found[kind] += np.bincount(of_kind["rank"], weights=of_kind["seconds"], minlength=count)
        others = [name for name in found if name not in KINDS]
        for row in self.rows:
            at = waits[(waits["site"] == row.site) & (waits["function"] == row.function)]
            waited = np.bincount(at["rank"], weights=at["seconds"], minlength=count)
            rest = np.maximum(0.0, row.by_rank - waited)
            if rest.any():
                for name in others:
                    found[name] += getattr(row.parts, name) * (rest / rest.sum())
        return [Parts(*map(float, of_rank)) for of_rank in zip(*found.values(), strict=True)]


def explain(launch: Launch, costs: MachineCosts | None = None, *, cores: int = 0) -> Explanation:
    """Explain a launch's time in MPI. `costs` are those of the machine's survey, if there is one, and `cores`
    is the number of cores of a host (0: unknown)."""
    waits = find_waits(launch, cores=cores, eager=costs.eager if costs else None)
    waiting_now = open_rows(launch, open_waits(launch)) if waits.is_reliable else np.zeros(0, WAITS)
    rows, points = _Explainer(launch, costs, waits, Waits(waiting_now)).rows_and_points()
    waits = replace(waits, rows=np.concatenate([waits.rows, waiting_now]))
    caveats = (*launch.caveats, *waits.caveats, *_caveats(launch, rows, costs))
    return Explanation(launch, rows, points, waits, costs, caveats)


def _caveats(launch: Launch, rows: Sequence[Row], costs: MachineCosts | None) -> Iterable[Caveat]:
    whole = sum(row.seconds for row in rows)
    ambiguous = sum(row.seconds for row in rows if launch.sites[row.site].ambiguous)
    if ambiguous > MIN_AMBIGUOUS_SHARE * whole:
        yield Caveat(
            "ambiguous-call-sites",
            f"{format_percent(ambiguous / whole, 2)} of the time in MPI is at call sites that also count "
            "calls from other places, as these used the same part of the stack",
            "call sites",
            "",
        )
    if costs is None:
        yield Caveat(
            "no-survey",
            "there is no survey of this machine, so that the cost of messages is not known",
            "transfer and excess, which are not separated",
            "'hockney survey' measures it",
        )
        return
    excess = sum(row.parts.excess for row in rows)
    if excess > MIN_EXCESS * whole and launch.most_ranks_on_a_host > 2 and not costs.knows_contention:
        yield Caveat(
            "contention-not-measured",
            "the survey has no messages of several pairs at once, so that contention is part of the excess",
            "contention and excess",
            "'hockney run pairs' measures them, and its run may be used as the survey",
        )
    for difference in costs.surveyed.differences:
        yield Caveat("other-machine", f"the survey differs: {difference}", "transfer and excess", "")


@dataclass(frozen=True)
class _PriceEstimate:
    """The price of some calls. `software` is the part spent on the processor, `unpriced` the reason if there
    is no price."""

    value: float = 0.0
    high: float = 0.0
    software: float = 0.0
    contention: float | None = None
    predicted: bool = False
    unpriced: Reason | None = None
    point: Point | None = None


def _without_price(code: str, text: str) -> _PriceEstimate:
    return _PriceEstimate(unpriced=Reason(code, text))


@dataclass(frozen=True)
class _Explainer:
    launch: Launch
    costs: MachineCosts | None
    waits: Waits
    open_waits: Waits
    """The waiting of calls that have not returned."""

    def rows_and_points(self) -> tuple[tuple[Row, ...], tuple[Point, ...]]:
        rows, points = [], []
        known_keys = set()
        for (site, function), calls in group_rows(self.launch.counted, "site", "function"):
            row, row_points = self._row(site, function, calls)
            rows.append(row)
            points += row_points
            known_keys.add((site, function))
        for open_call in self.launch.open_calls:
            if (open_call.site, open_call.function) not in known_keys:
                known_keys.add((open_call.site, open_call.function))
                rows.append(self._row(open_call.site, open_call.function, self.launch.counted[:0])[0])
        rows.sort(key=lambda row: -row.seconds)
        return tuple(rows), tuple(points)

    def _row(self, site: int, function: int, calls: np.ndarray) -> tuple[Row, list[Point]]:
        launch = self.launch
        name = launch.function(function)
        kind = kind_of(name)
        by_rank = np.bincount(calls["rank"], weights=calls["seconds"], minlength=len(launch.ranks))
        seconds = float(by_rank.sum())
        count = int(calls["calls"].sum())
        groups = [group for _, group in group_rows(calls, "communicator", "size_class", "distance")]
        prices = [self._price_calls(kind, name, site, group) for group in groups]
        weights = [float(group["seconds"].sum()) for group in groups]
        parts, reasons = self._parts(kind, site, function, seconds, prices, weights)
        open_calls = [item for item in launch.open_calls if (item.site, item.function) == (site, function)]
        if open_calls:
            open_s = sum(item.seconds for item in open_calls)
            open_waiting = self.open_waits.at(site, function)
            unseparated_s = max(0.0, open_s - sum(open_waiting.values()))
            parts = Parts.sum((parts, Parts(**open_waiting, not_separated=unseparated_s)))
            text = (
                f"{plural(len(open_calls), 'call')} {verb_form(len(open_calls), 'has', 'have')} not returned"
            )
            reasons = _sort_reasons([*reasons, Reason("open-call", text, unseparated_s)])
            seconds += open_s
            for item in open_calls:
                by_rank[item.rank] += item.seconds
        has_price = bool(prices) and not any(item.unpriced for item in prices) and self.costs is not None
        row = Row(
            site=site,
            function=function,
            name=name,
            kind=kind,
            calls=count,
            bytes=float(calls["bytes"].sum()),
            seconds=seconds,
            least=float(calls["least"].min()) if len(calls) else 0.0,
            most=float(calls["most"].max()) if len(calls) else 0.0,
            bins=calls["bins"].sum(axis=0),
            parts=parts,
            price_s=sum(item.value for item in prices) if has_price else None,
            price_high_s=sum(item.high for item in prices) if has_price else None,
            predicted=any(item.predicted for item in prices),
            why=reasons,
            recording_s=count * recording_cost(launch.overheads, kind),
            by_rank=by_rank,
            open_calls=len(open_calls),
            typical_s=self._typical_s(kind, site, function, calls),
        )
        waiting_share = parts.waiting / seconds if seconds else 0.0
        points = [item.point for item in prices if item.point is not None]
        return row, [replace(point, seconds=point.seconds * (1 - waiting_share)) for point in points]

    def _typical_s(self, kind: Kind, site: int, function: int, calls: np.ndarray) -> float | None:
        """The median time of a call without waiting; None if it is not known."""
        if kind in _STARTS and len(calls):
            clock = self.launch.files[int(calls["rank"][0])].clock
            return quantile_s(calls["bins"].sum(axis=0), clock.seconds_per_tick, 0.5)
        return self.waits.typical.get((site, function))

    def _parts(
        self,
        kind: Kind,
        site: int,
        function: int,
        seconds: float,
        prices: Sequence[_PriceEstimate],
        weights: Sequence[float],
    ) -> tuple[Parts, tuple[Reason, ...]]:
        reasons: list[Reason] = []
        if kind in ("local", "clock"):
            return Parts(software=seconds), ()
        waits = self._waiting_by_kind(site, function, seconds)
        remaining_s = max(0.0, seconds - sum(waits.values()))
        price_s, price_high_s = (sum(getattr(item, bound) for item in prices) for bound in ("value", "high"))
        software_s = min(remaining_s, sum(item.software for item in prices))
        transfer_s = min(remaining_s - software_s, max(0.0, price_s - software_s))
        within_scatter_s = min(
            remaining_s - software_s - transfer_s, max(0.0, price_high_s - max(price_s, software_s))
        )
        beyond_s = remaining_s - software_s - transfer_s - within_scatter_s
        contention_s = excess_s = 0.0
        unpriced: dict[Reason, float] = {}
        for item, weight in zip(prices, weights, strict=True):
            if item.unpriced is not None:
                unpriced[item.unpriced] = unpriced.get(item.unpriced, 0.0) + weight
        if beyond_s > 0:
            known_share = self._known_share(kind, site, function)
            if not self.waits.is_reliable:
                reasons.append(Reason("shared-cores", self.waits.why, beyond_s))
            elif self.waits.matched.doubted and known_share < 1 and kind in _MESSAGES:
                reasons.append(replace(_CLOCKS_DISAGREE, seconds=beyond_s))
            elif unpriced:
                unpriced_s = sum(unpriced.values()) or 1.0
                reasons += [
                    replace(item, seconds=beyond_s * part_s / unpriced_s) for item, part_s in unpriced.items()
                ]
            else:
                contentions = [item.contention for item in prices]
                if any(item is not None for item in contentions):
                    contention_s = min(beyond_s, sum(item or 0.0 for item in contentions))
                excess_s = known_share * (beyond_s - contention_s)
                if any(item.predicted for item in prices):
                    certain_excess_s = max(0.0, remaining_s - BEYOND_PREDICTION * price_high_s)
                    if certain_excess_s < excess_s:
                        reasons.append(replace(_PREDICTED_PRICE, seconds=excess_s - certain_excess_s))
                    excess_s = min(excess_s, certain_excess_s)
                if known_share < 1:
                    unknown_s = (1 - known_share) * (beyond_s - contention_s)
                    is_threaded = kind in _MESSAGES and any(item.threads > 1 for item in self.launch.ranks)
                    reasons.append(
                        replace(_MULTIPLE_THREADS if is_threaded else _UNKNOWN_WAITING, seconds=unknown_s)
                    )
        if within_scatter_s > 0:
            reasons.append(replace(_WITHIN_SCATTER, seconds=within_scatter_s))
        unseparated_s = max(0.0, within_scatter_s + beyond_s - contention_s - excess_s)
        parts = Parts(
            software_s,
            transfer_s,
            **waits,
            contention=contention_s,
            excess=excess_s,
            not_separated=unseparated_s,
        )
        return parts, _sort_reasons(reasons)

    def _waiting_by_kind(self, site: int, function: int, seconds: float) -> dict[str, float]:
        """The waiting (s) by field of `Parts`, at most the time of the calls."""
        waiting_by_kind = self.waits.at(site, function)
        total = sum(waiting_by_kind.values())
        factor = min(1.0, seconds / total) if total > 0 else 1.0
        return {kind: value * factor for kind, value in waiting_by_kind.items()}

    def _known_share(self, kind: Kind, site: int, function: int) -> float:
        """The share of the time of these calls for which waiting is known."""
        if kind in _STARTS:
            return 1.0
        return self.waits.known.get((site, function), 0.0)

    def _price_calls(self, kind: Kind, name: str, site: int, group: np.ndarray) -> _PriceEstimate:
        """The price of calls with one communicator, size class and distance."""
        calls = int(group["calls"].sum())
        if kind in ("local", "clock"):
            return _PriceEstimate()
        if kind in _NOT_SURVEYED:
            return _PriceEstimate(unpriced=_NOT_SURVEYED[kind])
        if self.costs is None:
            return _without_price("no-survey", "there is no survey of this machine")
        if not int(group["size_class"][0]) and kind not in ("wait", "probe") and blocking(name) != "Barrier":
            return _without_price("unknown-sizes", "the sizes of these calls are not known")
        size = float(group["bytes"].sum()) / calls if calls else 0.0
        distance = int(group["distance"][0])
        if kind in ("collective", "start collective"):
            return self._price_collectives(kind, name, site, group, calls, size)
        if kind == "wait":
            return self._price_completions(site, float(group["waited"].sum()))
        if distance == 0 and kind in ("send", "receive", "exchange", "start", "probe"):
            distance = NODE if self.launch.hosts == 1 else NETWORK
        price = self.costs.message(size, distance)
        if price is None:
            return _without_price("distance-not-surveyed", "the survey has no messages at this distance")
        software = self._software_s(kind, name, size)
        pairs = max(1.0, self.launch.most_ranks_on_a_host / 2)
        contention = self.costs.contention_s(size, distance, pairs)
        seconds = float(group["seconds"].sum())
        point = None
        if kind in ("send", "receive", "exchange"):
            point = Point(site, name, kind, 2, distance, size, calls, seconds / calls, price)
        # An exchange is a send and a receive, which need not overlap.
        factor = 2 if kind == "exchange" else 1
        return _PriceEstimate(
            factor * calls * price.value,
            factor * calls * price.high,
            min(calls * software, factor * calls * price.value),
            None if contention is None else calls * contention,
            point=point,
        )

    def _software_s(self, kind: Kind, name: str, size: float) -> float:
        """The processor time of one call (s)."""
        costs = self.costs
        if costs is None or not costs.has_overheads:
            return 0.0
        if kind == "exchange":
            return costs.sending_s(size) + costs.receiving_s(size)
        receives = kind == "receive" or name.startswith(("Irecv", "Imrecv"))
        return costs.receiving_s(size) if receives else costs.sending_s(size)

    def _price_collectives(
        self, kind: Kind, name: str, site: int, group: np.ndarray, calls: int, size: float
    ) -> _PriceEstimate:
        costs = self.costs
        assert costs is not None
        communicator = self.launch.communicators[int(group["communicator"][0])]
        operation = blocking(name)
        if communicator.is_inter:
            return _without_price("not-surveyed", "the survey does not measure intercommunicators")
        if not communicator.size:
            return _without_price("unknown-communicator", "the communicator is not known")
        price = costs.collective(operation, communicator.size, size)
        if price is None:
            text = f"the survey has no MPI_{operation} of this size and number of ranks"
            return _without_price("operation-not-surveyed", text)
        seconds = float(group["seconds"].sum())
        steps = int(np.ceil(np.log2(max(2, communicator.size)))) if price is not ZERO_PRICE else 0
        software = min(price.value, steps * (costs.sending_s(0) + costs.receiving_s(0)))
        point = None
        if kind == "collective" and price is not ZERO_PRICE:
            point = Point(site, name, kind, communicator.size, 0, size, calls, seconds / calls, price)
        return _PriceEstimate(
            calls * price.value,
            calls * price.high,
            calls * software,
            None,
            price.basis == PREDICTED,
            point=point,
        )

    def _price_completions(self, site: int, waited: float) -> _PriceEstimate:
        """The price of the requests that wait calls complete, from the timed ones. A receive costs its
        message, and so does a send that needs its receive; a shorter send is already complete."""
        costs = self.costs
        assert costs is not None
        samples = self.launch.samples
        completed = samples[(samples["wait_site"] == site) & (samples["raw_wait_site"] != 0)]
        if waited <= 0:
            return _PriceEstimate()
        if not len(completed):
            return _without_price("untimed-requests", "the requests that these calls complete are not timed")
        value = high = software = weight = 0.0
        predicted = False
        eager = costs.eager or 0.0
        columns = ("role", "distance", "bytes", "function", "communicator")
        for (role, distance, _, number, communicator), group in group_rows(completed, *columns):
            count, size = float(group["weight"].sum()), float(group["bytes"][0])
            weight += count
            if role == COLLECTIVE:
                ranks = self.launch.communicators[communicator].size
                price = costs.collective(blocking(self.launch.function(number)), ranks, size)
            elif role == SEND and size <= eager:
                price = ZERO_PRICE
            else:
                price = costs.message(size, distance or NODE)
            if price is None:
                text = "the survey lacks some of the messages that these calls complete"
                return _without_price("distance-not-surveyed", text)
            value, high = value + count * price.value, high + count * price.high
            predicted |= price.basis == PREDICTED
            if role != SEND and role != COLLECTIVE:
                software += count * min(price.value, costs.receiving_s(size))
        scale = waited / weight
        return _PriceEstimate(scale * value, scale * high, scale * software, None, predicted)


def _sort_reasons(reasons: Iterable[Reason]) -> tuple[Reason, ...]:
    return tuple(
        sorted((reason for reason in reasons if reason.seconds > 0), key=lambda reason: -reason.seconds)
    )


_UNKNOWN_WAITING = Reason("few-timed", "too few of these calls were timed on both sides")
_MULTIPLE_THREADS = Reason(
    "several-threads", "messages are not timed once a second thread of a rank calls MPI"
)
_CLOCKS_DISAGREE = Reason("clocks-disagree", "the clocks disagree")
_MESSAGES: tuple[Kind, ...] = "send", "receive", "exchange", "wait", "probe"
_STARTS: tuple[Kind, ...] = "start", "start collective", "one-sided"
"""Calls that need not wait."""
_PREDICTED_PRICE = Reason("predicted", "the cost of these calls is only predicted from messages")
_WITHIN_SCATTER = Reason(
    "within-scatter", "as fast as this machine's messages are, within the survey's scatter"
)
_NOT_SURVEYED: Mapping[Kind, Reason] = {
    "poll": Reason("polls", "tests return at once, however long the program goes on testing"),
    "one-sided": Reason("not-surveyed", "the survey does not measure one-sided communication"),
    "synchronisation": Reason(
        "not-surveyed", "the survey does not measure windows, communicators and processes"
    ),
    "file": Reason("not-surveyed", "the survey does not measure files"),
    "neighbors": Reason("not-surveyed", "the survey does not measure neighborhood collectives"),
}


def recording_cost(overheads: Mapping[str, tuple[float, float]], kind: Kind) -> float:
    """The time that recording adds to one call (s), as measured by the ranks. If they did not measure this
    kind, the largest of all kinds."""
    name = recording_kind(kind)
    if name in overheads:
        return overheads[name][1]
    return max((added for _, added in overheads.values()), default=0.0)
