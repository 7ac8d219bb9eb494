# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Time that ranks wait for others, from the messages and collectives that both sides, or all members, timed.

The kinds of waiting are those of Scalasca (M. Geimer et al., Concurrency and Computation 22 (2010) 702).
*Late sender*: a receiver has entered the call that completes its receive before the sender entered the call
that starts the message. *Late receiver*: a sender waits until the receiver has posted its receive. *Wait at a
collective*: until the last of those members has entered on which the rank depends, which is all of them, the
root, or all others. A long message may also wait for its other side to enter MPI again, as MPIs without a
progress thread move it in MPI calls only.

Each timed operation stands for as many as its weight says. The estimate for a call site is scaled by the time
that its calls took altogether, relative to that of the timed ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from hockney.core.units import format_seconds
from hockney.draw.page import Caveat
from hockney.profiles.operations import (
    FROM_LOWER_RANKS,
    FROM_ROOT,
    NOT_SYNCHRONISING,
    SYNCHRONOUS,
    TO_ROOT,
    blocking,
    kind_of,
)
from hockney.profiles.profile import Launch, first_rows, group_rows
from hockney.profiles.rank_file import COLLECTIVE, RECEIVE, SEND

WaitKind = Literal["late_sender", "late_receiver", "collective"]
"""Fields of `explanation.Parts`."""
KINDS: tuple[WaitKind, ...] = get_args(WaitKind)
LATE_SENDER, LATE_RECEIVER, AT_COLLECTIVE = range(3)

EAGER = 4096.0
"""Bytes up to which a nonblocking send is taken to complete without its receive, if no survey shows it: the
smallest limit of common MPIs' shared memory (Open MPI's btl/sm)."""
FEWEST_COVERED = 0.5
"""A call site of which a smaller share of the time was timed is not scaled up."""
MOST_VIOLATIONS = 0.01
"""If more messages seem to arrive before they are sent, the clocks disagree."""
TOLERATED_S = 1e-6
"""Ticks are read without serialisation, so that the processor may read them somewhat before or after its
neighboring instructions: by less than this."""
TOLERATED_SHARE = 0.03
"""Clocks that disagree may change the waiting by this share of it."""

WAITS = np.dtype(
    [
        ("kind", "<i4"),
        ("rank", "<i4"),
        ("site", "<i4"),
        ("function", "<i4"),
        ("communicator", "<i4"),
        ("by_rank", "<i4"),
        ("by_site", "<i4"),
        ("enter", "<f8"),
        ("lasted", "<f8"),
        ("seconds", "<f8"),
        ("weight", "<f8"),
    ]
)
"""The waiting of one timed call: at `site` in `function`, for `by_rank`, whose late call is at `by_site`.
`seconds` is the estimate for all calls for which it stands."""


@dataclass(frozen=True)
class Waiting:
    """Waiting of one kind at one call site for one rank's call site, over all waiting ranks (s)."""

    kind: WaitKind
    site: int
    function: int
    by_rank: int
    by_site: int
    seconds: float
    waiting: tuple[int, ...]
    """The ranks that wait, by their places in the launch."""


@dataclass
class MatchedOperations:
    """The timed operations whose other sides were timed too, and whether the clocks agree. `violations`
    counts the messages that seem to arrive before they are sent, by `worst_s` at most; `across_hosts` the
    messages and collectives between clocks that are not known to agree; `incomplete` the collectives without
    all members. If the clocks are `doubted`, waiting for messages is not known."""

    messages: int = 0
    violations: int = 0
    worst_s: float = 0.0
    typical_s: float = 0.0
    across_hosts: int = 0
    incomplete: int = 0
    doubted: bool = False


@dataclass(frozen=True)
class Waits:
    """`rows` are the waits; `known` is the time of timed calls of which waiting is known, by call site and
    function, relative to all their time, and `typical` the median time of these calls without waiting. If
    `is_reliable` is false, nothing is known, for the reason `why`."""

    rows: np.ndarray
    known: dict[tuple[int, int], float] = field(default_factory=dict)
    typical: dict[tuple[int, int], float] = field(default_factory=dict)
    matched: MatchedOperations = field(default_factory=MatchedOperations)
    is_reliable: bool = True
    caveats: tuple[Caveat, ...] = ()
    why: str = ""

    @property
    def total_s(self) -> float:
        return float(self.rows["seconds"].sum())

    def at(self, site: int, function: int) -> dict[WaitKind, float]:
        """The waiting at a call site, by kind (s)."""
        rows = self.rows[(self.rows["site"] == site) & (self.rows["function"] == function)]
        return {name: float(rows["seconds"][rows["kind"] == k].sum()) for k, name in enumerate(KINDS)}

    def of_ranks(self, count: int) -> np.ndarray:
        """The waiting of each rank (s)."""
        return np.bincount(self.rows["rank"], weights=self.rows["seconds"], minlength=count)

    def caused_by(self, count: int) -> np.ndarray:
        """The waiting of others for each rank (s)."""
        return np.bincount(self.rows["by_rank"], weights=self.rows["seconds"], minlength=count)

    @cached_property
    def causes(self) -> tuple[Waiting, ...]:
        """Who waits where for whom, the longest first."""
        groups = group_rows(self.rows, "kind", "site", "function", "by_rank", "by_site")
        found = [
            Waiting(
                KINDS[kind],
                site,
                function,
                by_rank,
                by_site,
                float(rows["seconds"].sum()),
                tuple(int(rank) for rank in np.unique(rows["rank"])),
            )
            for (kind, site, function, by_rank, by_site), rows in groups
        ]
        return tuple(sorted(found, key=lambda each: -each.seconds))


def waits_of(launch: Launch, *, cores: int = 0, eager: float | None = None) -> Waits:
    """The waiting in a launch. `cores` is the number of cores of a host (0: unknown), `eager` the largest
    message that is sent without its receive, if a survey shows it."""
    if 0 < cores < launch.most_ranks_on_a_host:
        return Waits(
            np.zeros(0, WAITS),
            is_reliable=False,
            caveats=(_oversubscribed(launch, cores),),
            why=f"{launch.most_ranks_on_a_host} ranks share {cores} cores",
        )
    clocks = np.array([rank.clock for rank in launch.ranks], dtype=np.uint64)
    errors = np.array([rank.clock_error_s for rank in launch.ranks])
    found = MatchedOperations()
    limit = EAGER if eager is None or not np.isfinite(eager) else eager
    messages = _messages(launch, clocks, errors, limit, found)
    collectives = _collectives(launch, clocks, errors, found)
    many = found.violations > MOST_VIOLATIONS * max(1, found.messages) and found.violations > 3
    if many and found.typical_s * found.messages > TOLERATED_SHARE * float(messages["seconds"].sum()):
        messages = messages[:0]
        found.doubted = True
    rows = _once_per_call(np.concatenate([messages, collectives]))
    known, typical = _scale(launch, rows)
    return Waits(rows[rows["seconds"] > 0], known, typical, found, caveats=tuple(_caveats(found)))


def open_rows(launch: Launch, awaited: Mapping[int, int]) -> np.ndarray:
    """The waiting in calls that have not returned of ranks for the ranks `awaited`."""
    at = {each.rank: each for each in launch.open_calls}
    rows = np.zeros(len(awaited), WAITS)
    for row, (rank, by_rank) in zip(rows, awaited.items(), strict=True):
        call = at[rank]
        kind = kind_of(launch.function(call.function))
        row["kind"] = (
            LATE_RECEIVER
            if kind == "send"
            else AT_COLLECTIVE
            if kind in ("collective", "synchronisation", "neighbors")
            else LATE_SENDER
        )
        row["rank"], row["by_rank"] = rank, by_rank
        row["site"], row["function"], row["communicator"] = call.site, call.function, call.communicator
        row["by_site"] = at[by_rank].site if by_rank in at else 0
        row["enter"] = launch.ranks[rank].end - call.seconds
        row["lasted"] = row["seconds"] = call.seconds
        row["weight"] = 1.0
    return rows


def _rows(
    samples: np.ndarray, kind: int, seconds: np.ndarray, by_rank: np.ndarray, by_site: np.ndarray
) -> np.ndarray:
    rows = np.zeros(len(samples), WAITS)
    rows["kind"] = kind
    for name in ("rank", "communicator", "enter", "weight"):
        rows[name] = samples[name]
    rows["site"] = samples["wait_site"]
    rows["function"] = samples["raw_wait_site"]  # replaced by _scale, which knows the calls at a site
    rows["lasted"] = samples["leave"] - samples["enter"]
    rows["by_rank"], rows["by_site"], rows["seconds"] = by_rank, by_site, seconds
    return rows


def _messages(
    launch: Launch, clocks: np.ndarray, errors: np.ndarray, eager: float, found: MatchedOperations
) -> np.ndarray:
    samples = launch.samples[launch.samples["role"] != COLLECTIVE]
    order = np.lexsort((samples["role"], samples["number"], samples["channel"]))
    ordered = samples[order]
    # A message's send comes first, then its receive; a probe that found it, before.
    place = np.arange(len(ordered))
    of_send = np.maximum.accumulate(np.where(ordered["role"] == SEND, place, -1)) if len(ordered) else place
    is_received = (ordered["role"] == RECEIVE) & (of_send >= 0)
    for key in ("channel", "number"):
        is_received &= ordered[key] == ordered[key][of_send]
    sends, receives = ordered[of_send[is_received]], ordered[is_received]
    found.messages = len(np.unique(of_send[is_received]))
    together = clocks[sends["rank"]] == clocks[receives["rank"]]
    found.across_hosts += int((~together).sum())
    sends, receives = sends[together], receives[together]
    error = errors[sends["rank"]] + errors[receives["rank"]]
    needs_both = sends["bytes"] > eager
    early = sends["posted"] - receives["leave"] - error
    violating = early[early > TOLERATED_S]
    found.violations = len(violating)
    if found.violations:
        found.worst_s, found.typical_s = float(violating.max()), float(np.median(violating))
    late_sender, by_sender = _lateness(receives, sends, needs_both)
    late_sender[late_sender <= error] = 0.0
    late_receiver, by_receiver = _lateness(sends, receives, needs_both)
    # A send that returns before its receive is posted did not wait for it. One that was completed together
    # with other requests may have waited for these, unless it needs its receive.
    blocking_call = (sends["raw_wait_site"] != 0) & (sends["enter"] <= sends["posted"])
    synchronous = np.isin(
        sends["function"], [launch.number_of[name] for name in SYNCHRONOUS if name in launch.number_of]
    )
    waited = (sends["leave"] > receives["posted"]) & (blocking_call | synchronous | needs_both)
    late_receiver[~waited | (late_receiver <= error)] = 0.0
    return np.concatenate(
        [
            _rows(receives, LATE_SENDER, late_sender, sends["rank"], by_sender),
            _rows(sends, LATE_RECEIVER, late_receiver, receives["rank"], by_receiver),
        ]
    )


def _lateness(
    waiting: np.ndarray, others: np.ndarray, needs_both: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """How long one side of each message waits for the other, and the site at which the other is late. A long
    message that was started, but not completed, may not move while the other side computes: until that is in
    MPI again."""
    posted = others["posted"]
    stalled = needs_both & (waiting["leave"] > others["enter"]) & (others["enter"] > posted)
    until = np.where(stalled, others["enter"], posted)
    mostly = stalled & (until - posted > posted - waiting["enter"])
    lasted = np.maximum(0.0, waiting["leave"] - waiting["enter"])
    sites = np.where(mostly, others["wait_site"], others["site"])
    return np.clip(until - waiting["enter"], 0.0, lasted), sites


def _collectives(
    launch: Launch, clocks: np.ndarray, errors: np.ndarray, found: MatchedOperations
) -> np.ndarray:
    samples = launch.samples[launch.samples["role"] == COLLECTIVE]
    if not len(samples):
        return np.zeros(0, WAITS)
    ordered = samples[np.lexsort((samples["rank"], samples["number"], samples["channel"]))]
    is_new = first_rows(ordered, "channel", "number")
    starts = np.flatnonzero(is_new)
    group = np.cumsum(is_new) - 1
    counts = np.diff(np.append(starts, len(ordered)))
    sizes = np.array([each.size + each.remote_size for each in launch.communicators])
    expected = sizes[ordered["communicator"][starts]]
    complete = (counts == expected) & (counts > 1)
    same_function = np.minimum.reduceat(ordered["function"], starts) == np.maximum.reduceat(
        ordered["function"], starts
    )
    host = clocks[ordered["rank"]]
    together = np.minimum.reduceat(host, starts) == np.maximum.reduceat(host, starts)
    found.incomplete += int(((counts < expected) & (expected > 1)).sum())
    found.across_hosts += int((complete & ~together).sum())
    usable = complete & together & same_function
    parts = []
    functions = ordered["function"][starts]
    inter = np.array([each.is_inter for each in launch.communicators])[ordered["communicator"][starts]]
    for number in np.unique(functions):
        name = blocking(launch.function(int(number)))
        if name in NOT_SYNCHRONISING or name.startswith("Neighbor_"):
            continue
        chosen = usable & (functions == number)
        if name in FROM_ROOT + TO_ROOT + FROM_LOWER_RANKS:
            chosen &= ~inter
        if not chosen.any():
            continue
        rows = ordered[chosen[group]]
        new_starts = np.append(0, np.cumsum(counts[chosen])[:-1])
        new_group = np.repeat(np.arange(len(new_starts)), counts[chosen])
        parts.append(_dependent(name, rows, new_starts, new_group, errors))
    return np.concatenate(parts) if parts else np.zeros(0, WAITS)


def _dependent(
    name: str, rows: np.ndarray, starts: np.ndarray, group: np.ndarray, errors: np.ndarray
) -> np.ndarray:
    """The waiting of the members of collectives of one function, which are consecutive."""
    posted = rows["posted"].copy()
    position = np.arange(len(rows))
    is_root = rows["peer"] == rows["rank"]
    if name in FROM_ROOT or name in TO_ROOT:
        has_root = np.add.reduceat(is_root.astype(int), starts) == 1
        kept = has_root[group]
        if name in FROM_ROOT:
            posted = np.where(is_root, posted, -np.inf)
        else:
            posted = np.where(is_root, -np.inf, posted)
    else:
        kept = np.ones(len(rows), dtype=bool)
    if name in FROM_LOWER_RANKS:
        last = np.empty(len(rows), dtype=np.int64)
        for first, end in zip(starts, [*starts[1:], len(rows)], strict=True):
            latest = int(first)
            for k in range(int(first), int(end)):
                last[k] = latest
                if posted[k] > posted[latest]:
                    latest = k
    else:
        latest_time = np.maximum.reduceat(posted, starts)
        at_latest = np.where(posted == latest_time[group], position, len(rows))
        last = np.minimum.reduceat(at_latest, starts)[group]
    until = posted[last]
    lasted = np.maximum(0.0, rows["leave"] - rows["enter"])
    waiting = np.clip(until - rows["enter"], 0.0, lasted)
    if name in FROM_ROOT:
        waiting = np.where(is_root, 0.0, waiting)
    elif name in TO_ROOT:
        waiting = np.where(is_root, waiting, 0.0)
    # An implementation may make others wait too, and nonblocking ones may not advance while a member
    # computes. A rank that leaves only after all members are in the call that completes it has waited for the
    # last of these.
    latest = np.maximum.reduceat(rows["enter"], starts)[group]
    at_latest = np.where(rows["enter"] == latest, position, len(rows))
    last_of_all = np.minimum.reduceat(at_latest, starts)[group]
    longer = np.where(rows["leave"] > latest, np.clip(latest - rows["enter"], 0.0, lasted), 0.0)
    # Is the last one late with the start of the collective, or with its end?
    of_last = rows["posted"][last_of_all]
    mostly = (longer > waiting) & (latest - of_last > of_last - rows["enter"])
    by_site = np.where(mostly, rows["wait_site"][last_of_all], rows["site"][last_of_all])
    by_site = np.where(longer > waiting, by_site, rows["site"][last])
    last = np.where(longer > waiting, last_of_all, last)
    waiting = np.maximum(waiting, longer)
    error = errors[rows["rank"]] + errors[rows["rank"][last]]
    waiting = np.where((last == position) | (waiting <= error), 0.0, waiting)
    made = _rows(rows, AT_COLLECTIVE, waiting, rows["rank"][last], by_site)
    return made[kept]


def _once_per_call(rows: np.ndarray) -> np.ndarray:
    """For each call, only the longest wait: operations that the same call completed were waited for in the
    same interval."""
    ordered = rows[np.lexsort((-rows["seconds"], rows["site"], rows["enter"], rows["rank"]))]
    return ordered[first_rows(ordered, "rank", "enter", "site")]


Shares = dict[tuple[int, int], float]


def _scale(launch: Launch, rows: np.ndarray) -> tuple[Shares, Shares]:
    """Multiplies the seconds of the rows by their weights and by the scale of their call site, and sets their
    functions. Returns for each call site and function the share of its time of which waiting is known, and
    the median time of a call without waiting."""
    function_of = _functions_at(launch)
    if not len(rows):
        return {}, {}
    calls = launch.counted
    observed = {
        place: float(group["seconds"].sum()) for place, group in group_rows(calls, "site", "function")
    }
    distinct, inverse = _distinct(rows["rank"], rows["function"])
    rows["function"] = np.array([function_of.get(pair, -1) for pair in distinct], dtype=np.int32)[inverse]
    places, of = _distinct(rows["site"], rows["function"])
    timed = np.bincount(of, weights=rows["lasted"] * rows["weight"], minlength=len(places))
    known, typical = {}, {}
    factors = np.ones(len(places))
    for k, (site, function) in enumerate(places):
        total = observed.get((site, function), 0.0)
        if total <= 0 or timed[k] <= 0:
            continue
        covered = timed[k] / total
        if covered >= FEWEST_COVERED:
            factors[k] = 1 / covered
        known[site, function] = 1.0 if covered >= 0.9 else float(covered)
        here = rows[of == k]
        typical[site, function] = _median(here["lasted"] - here["seconds"], here["weight"])
    rows["seconds"] *= rows["weight"] * factors[of]
    return known, typical


def _distinct(first: np.ndarray, second: np.ndarray) -> tuple[list[tuple[int, int]], np.ndarray]:
    """The distinct pairs, and the index of each pair among them."""
    keys = first.astype(np.int64) << 32 | (second.astype(np.int64) & 0xFFFFFFFF)
    distinct, inverse = np.unique(keys, return_inverse=True)
    pairs = zip((distinct >> 32).tolist(), (distinct & 0xFFFFFFFF).astype(np.int32).tolist(), strict=True)
    return list(pairs), inverse.reshape(-1)


def _median(values: np.ndarray, weights: np.ndarray) -> float:
    order = np.argsort(values)
    summed = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(summed, summed[-1] / 2)])


def _functions_at(launch: Launch) -> dict[tuple[int, int], int]:
    """The function that takes the longest at each site of each rank."""
    longest: dict[tuple[int, int], tuple[float, int]] = {}
    calls = launch.counted
    for rank, raw, function, seconds in zip(
        *(calls[name].tolist() for name in ("rank", "raw_site", "function", "seconds")), strict=True
    ):
        if seconds > longest.get((rank, raw), (-1.0, 0))[0]:
            longest[rank, raw] = seconds, function
    return {key: function for key, (_, function) in longest.items()}


def _oversubscribed(launch: Launch, cores: int) -> Caveat:
    return Caveat(
        "oversubscribed",
        f"{launch.most_ranks_on_a_host} ranks share {cores} cores, so that a rank that waits may only be "
        "without a core",
        "waiting and excess, which are not separated",
        f"run at most {cores} ranks on each host",
    )


def _caveats(found: MatchedOperations) -> Iterator[Caveat]:
    if found.across_hosts:
        yield Caveat(
            "clocks-of-hosts",
            f"{found.across_hosts} timed messages and collectives are between hosts with clocks that are "
            "not known to agree",
            "waiting between hosts, which is not separated",
            "",
        )
    if found.violations:
        text = (
            f"{found.violations} of {found.messages} timed messages seem to arrive before they are sent, by "
            f"{format_seconds(found.worst_s)} at most"
        )
        if found.doubted:
            text += ": the clocks disagree, and waiting for messages is not computed"
        yield Caveat("receive-before-send", text, "waiting for messages, which is not separated", "")
    if found.incomplete:
        yield Caveat(
            "incomplete-collectives",
            f"{found.incomplete} timed collectives lack members",
            "waiting at collectives",
            "",
        )
