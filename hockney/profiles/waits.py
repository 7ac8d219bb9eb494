# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The time that ranks wait for others, from messages and collectives that were timed on both sides, or by all
members.

The kinds of waiting are those of Scalasca (M. Geimer et al., Concurrency and Computation 22 (2010) 702).
*Late sender*: a receiver enters the call that completes its receive before the sender enters the call that
starts the message. *Late receiver*: a sender waits until the receiver posts its receive. *Wait at a
collective*: until the last of the members has entered on which the rank depends (all members, the root, or
all others). A long message may also wait until its other side enters MPI again, because MPIs without a
progress thread move data only within MPI calls.

Each timed operation represents as many operations as its weight says. The estimate for a call site is scaled
by the total time of its calls relative to the time of the timed ones."""

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
MIN_TIMED_SHARE = 0.5
"""A call site of which a smaller share of the time was timed is not scaled up."""
MAX_VIOLATION_SHARE = 0.01
"""If more messages seem to arrive before they are sent, the clocks disagree."""
MAX_ERROR_S = 1e-6
"""Ticks are read without serialisation, so that the processor may read them somewhat before or after its
neighboring instructions: by less than this."""
MAX_ERROR_SHARE = 0.03
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
    """Waiting of one kind at one call site for a call site of another rank, over all waiting ranks (s)."""

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
    """Timed operations whose other sides were timed too, and whether the clocks agree. `violations` counts
    messages that seem to arrive before they are sent, by at most `worst_s`; `across_hosts` counts messages
    and collectives between clocks that are not known to agree; `incomplete` counts collectives without all
    members. If the clocks are `doubted`, waiting for messages is unknown."""

    messages: int = 0
    violations: int = 0
    worst_s: float = 0.0
    typical_s: float = 0.0
    across_hosts: int = 0
    incomplete: int = 0
    doubted: bool = False


@dataclass(frozen=True)
class Waits:
    """`rows` are the waits. By call site and function, `known` is the share of the time of calls for which
    waiting is known, and `typical` the median time of a call without waiting. If `is_reliable` is false,
    nothing is known, for the reason `why`."""

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
        """The waiting time of each rank (s)."""
        return np.bincount(self.rows["rank"], weights=self.rows["seconds"], minlength=count)

    def caused_by(self, count: int) -> np.ndarray:
        """The waiting time that each rank causes for others (s)."""
        return np.bincount(self.rows["by_rank"], weights=self.rows["seconds"], minlength=count)

    @cached_property
    def causes(self) -> tuple[Waiting, ...]:
        """Who waits where for whom, longest first."""
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


def find_waits(launch: Launch, *, cores: int = 0, eager: float | None = None) -> Waits:
    """Find the waiting in a launch. `cores` is the number of cores of a host (0: unknown), `eager` the
    largest message that is sent without waiting for its receive, if a survey measured it."""
    if 0 < cores < launch.most_ranks_on_a_host:
        return Waits(
            np.zeros(0, WAITS),
            is_reliable=False,
            caveats=(_oversubscribed_caveat(launch, cores),),
            why=f"{launch.most_ranks_on_a_host} ranks share {cores} cores",
        )
    clocks = np.array([rank.clock for rank in launch.ranks], dtype=np.uint64)
    errors = np.array([rank.clock_error_s for rank in launch.ranks])
    matched = MatchedOperations()
    eager_limit = EAGER if eager is None or not np.isfinite(eager) else eager
    messages = _message_waits(launch, clocks, errors, eager_limit, matched)
    collectives = _collective_waits(launch, clocks, errors, matched)
    has_many_violations = (
        matched.violations > MAX_VIOLATION_SHARE * max(1, matched.messages) and matched.violations > 3
    )
    if has_many_violations and matched.typical_s * matched.messages > MAX_ERROR_SHARE * float(
        messages["seconds"].sum()
    ):
        messages = messages[:0]
        matched.doubted = True
    rows = _longest_per_call(np.concatenate([messages, collectives]))
    known_shares, typical_s = _scale_rows(launch, rows)
    return Waits(
        rows[rows["seconds"] > 0], known_shares, typical_s, matched, caveats=tuple(_caveats(matched))
    )


def open_rows(launch: Launch, awaited: Mapping[int, int]) -> np.ndarray:
    """The waiting of ranks in calls that have not returned. `awaited` maps each rank to the rank that it
    waits for."""
    open_calls = {call.rank: call for call in launch.open_calls}
    rows = np.zeros(len(awaited), WAITS)
    for row, (rank, by_rank) in zip(rows, awaited.items(), strict=True):
        call = open_calls[rank]
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
        row["by_site"] = open_calls[by_rank].site if by_rank in open_calls else 0
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


def _message_waits(
    launch: Launch, clocks: np.ndarray, errors: np.ndarray, eager: float, matched: MatchedOperations
) -> np.ndarray:
    samples = launch.samples[launch.samples["role"] != COLLECTIVE]
    order = np.lexsort((samples["role"], samples["number"], samples["channel"]))
    sorted_samples = samples[order]
    # A message's send comes first, then its receive; a probe that found it, before.
    positions = np.arange(len(sorted_samples))
    send_positions = (
        np.maximum.accumulate(np.where(sorted_samples["role"] == SEND, positions, -1))
        if len(sorted_samples)
        else positions
    )
    is_received = (sorted_samples["role"] == RECEIVE) & (send_positions >= 0)
    for key in ("channel", "number"):
        is_received &= sorted_samples[key] == sorted_samples[key][send_positions]
    sends, receives = sorted_samples[send_positions[is_received]], sorted_samples[is_received]
    matched.messages = len(np.unique(send_positions[is_received]))
    same_clock = clocks[sends["rank"]] == clocks[receives["rank"]]
    matched.across_hosts += int((~same_clock).sum())
    sends, receives = sends[same_clock], receives[same_clock]
    error = errors[sends["rank"]] + errors[receives["rank"]]
    needs_both = sends["bytes"] > eager
    early_s = sends["posted"] - receives["leave"] - error
    violations_s = early_s[early_s > MAX_ERROR_S]
    matched.violations = len(violations_s)
    if matched.violations:
        matched.worst_s, matched.typical_s = float(violations_s.max()), float(np.median(violations_s))
    late_sender, by_sender = _lateness(receives, sends, needs_both)
    late_sender[late_sender <= error] = 0.0
    late_receiver, by_receiver = _lateness(sends, receives, needs_both)
    # A send that returns before its receive is posted did not wait for it. One that was completed together
    # with other requests may have waited for these, unless it needs its receive.
    blocking_call = (sends["raw_wait_site"] != 0) & (sends["enter"] <= sends["posted"])
    synchronous = np.isin(
        sends["function"], [launch.number_of[name] for name in SYNCHRONOUS if name in launch.number_of]
    )
    has_waited = (sends["leave"] > receives["posted"]) & (blocking_call | synchronous | needs_both)
    late_receiver[~has_waited | (late_receiver <= error)] = 0.0
    return np.concatenate(
        [
            _rows(receives, LATE_SENDER, late_sender, sends["rank"], by_sender),
            _rows(sends, LATE_RECEIVER, late_receiver, receives["rank"], by_receiver),
        ]
    )


def _lateness(
    waiting: np.ndarray, late_side: np.ndarray, needs_both: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """How long one side of each message waits for the other, and the site at which the other is late. A long
    message that is in progress may stall while the other side computes, until that enters MPI again."""
    posted = late_side["posted"]
    is_stalled = needs_both & (waiting["leave"] > late_side["enter"]) & (late_side["enter"] > posted)
    wait_end = np.where(is_stalled, late_side["enter"], posted)
    ends_late = is_stalled & (wait_end - posted > posted - waiting["enter"])
    duration = np.maximum(0.0, waiting["leave"] - waiting["enter"])
    sites = np.where(ends_late, late_side["wait_site"], late_side["site"])
    return np.clip(wait_end - waiting["enter"], 0.0, duration), sites


def _collective_waits(
    launch: Launch, clocks: np.ndarray, errors: np.ndarray, matched: MatchedOperations
) -> np.ndarray:
    samples = launch.samples[launch.samples["role"] == COLLECTIVE]
    if not len(samples):
        return np.zeros(0, WAITS)
    sorted_samples = samples[np.lexsort((samples["rank"], samples["number"], samples["channel"]))]
    is_new = first_rows(sorted_samples, "channel", "number")
    starts = np.flatnonzero(is_new)
    group_indices = np.cumsum(is_new) - 1
    counts = np.diff(np.append(starts, len(sorted_samples)))
    sizes = np.array([communicator.size + communicator.remote_size for communicator in launch.communicators])
    expected = sizes[sorted_samples["communicator"][starts]]
    is_complete = (counts == expected) & (counts > 1)
    same_function = np.minimum.reduceat(sorted_samples["function"], starts) == np.maximum.reduceat(
        sorted_samples["function"], starts
    )
    rank_clocks = clocks[sorted_samples["rank"]]
    same_clock = np.minimum.reduceat(rank_clocks, starts) == np.maximum.reduceat(rank_clocks, starts)
    matched.incomplete += int(((counts < expected) & (expected > 1)).sum())
    matched.across_hosts += int((is_complete & ~same_clock).sum())
    is_usable = is_complete & same_clock & same_function
    parts = []
    functions = sorted_samples["function"][starts]
    is_inter = np.array([communicator.is_inter for communicator in launch.communicators])[
        sorted_samples["communicator"][starts]
    ]
    for number in np.unique(functions):
        name = blocking(launch.function(int(number)))
        if name in NOT_SYNCHRONISING or name.startswith("Neighbor_"):
            continue
        is_chosen = is_usable & (functions == number)
        if name in FROM_ROOT + TO_ROOT + FROM_LOWER_RANKS:
            is_chosen &= ~is_inter
        if not is_chosen.any():
            continue
        rows = sorted_samples[is_chosen[group_indices]]
        new_starts = np.append(0, np.cumsum(counts[is_chosen])[:-1])
        new_group = np.repeat(np.arange(len(new_starts)), counts[is_chosen])
        parts.append(_dependency_waits(name, rows, new_starts, new_group, errors))
    return np.concatenate(parts) if parts else np.zeros(0, WAITS)


def _dependency_waits(
    name: str, rows: np.ndarray, starts: np.ndarray, group_indices: np.ndarray, errors: np.ndarray
) -> np.ndarray:
    """The waiting of the members of collectives of one function, which are in consecutive rows."""
    posted = rows["posted"].copy()
    positions = np.arange(len(rows))
    is_root = rows["peer"] == rows["rank"]
    if name in FROM_ROOT or name in TO_ROOT:
        has_root = np.add.reduceat(is_root.astype(int), starts) == 1
        is_kept = has_root[group_indices]
        if name in FROM_ROOT:
            posted = np.where(is_root, posted, -np.inf)
        else:
            posted = np.where(is_root, -np.inf, posted)
    else:
        is_kept = np.ones(len(rows), dtype=bool)
    if name in FROM_LOWER_RANKS:
        last_members = np.empty(len(rows), dtype=np.int64)
        for first, end in zip(starts, [*starts[1:], len(rows)], strict=True):
            latest = int(first)
            for k in range(int(first), int(end)):
                last_members[k] = latest
                if posted[k] > posted[latest]:
                    latest = k
    else:
        latest_posts = np.maximum.reduceat(posted, starts)
        latest_positions = np.where(posted == latest_posts[group_indices], positions, len(rows))
        last_members = np.minimum.reduceat(latest_positions, starts)[group_indices]
    wait_end = posted[last_members]
    duration = np.maximum(0.0, rows["leave"] - rows["enter"])
    waiting = np.clip(wait_end - rows["enter"], 0.0, duration)
    if name in FROM_ROOT:
        waiting = np.where(is_root, 0.0, waiting)
    elif name in TO_ROOT:
        waiting = np.where(is_root, waiting, 0.0)
    # An implementation may make others wait too, and nonblocking ones may not advance while a member
    # computes. A rank that leaves only after all members are in the call that completes it has waited for the
    # last of these.
    latest = np.maximum.reduceat(rows["enter"], starts)[group_indices]
    latest_positions = np.where(rows["enter"] == latest, positions, len(rows))
    last_entered = np.minimum.reduceat(latest_positions, starts)[group_indices]
    longer_waits = np.where(rows["leave"] > latest, np.clip(latest - rows["enter"], 0.0, duration), 0.0)
    # Is the last one late with the start of the collective, or with its end?
    last_posts = rows["posted"][last_entered]
    ends_late = (longer_waits > waiting) & (latest - last_posts > last_posts - rows["enter"])
    by_site = np.where(ends_late, rows["wait_site"][last_entered], rows["site"][last_entered])
    by_site = np.where(longer_waits > waiting, by_site, rows["site"][last_members])
    last_members = np.where(longer_waits > waiting, last_entered, last_members)
    waiting = np.maximum(waiting, longer_waits)
    error = errors[rows["rank"]] + errors[rows["rank"][last_members]]
    waiting = np.where((last_members == positions) | (waiting <= error), 0.0, waiting)
    wait_rows = _rows(rows, AT_COLLECTIVE, waiting, rows["rank"][last_members], by_site)
    return wait_rows[is_kept]


def _longest_per_call(rows: np.ndarray) -> np.ndarray:
    """The longest wait of each call. Operations that the same call completed were waited for at the same
    time."""
    sorted_rows = rows[np.lexsort((-rows["seconds"], rows["site"], rows["enter"], rows["rank"]))]
    return sorted_rows[first_rows(sorted_rows, "rank", "enter", "site")]


Shares = dict[tuple[int, int], float]


def _scale_rows(launch: Launch, rows: np.ndarray) -> tuple[Shares, Shares]:
    """Multiply the seconds of the rows by their weights and by the scale of their call site, and set their
    functions. Returns by call site and function the share of the time for which waiting is known, and the
    median time of a call without waiting."""
    function_of = _functions_at(launch)
    if not len(rows):
        return {}, {}
    calls = launch.counted
    observed_s = {key: float(group["seconds"].sum()) for key, group in group_rows(calls, "site", "function")}
    distinct_pairs, inverse = _distinct_pairs(rows["rank"], rows["function"])
    rows["function"] = np.array([function_of.get(pair, -1) for pair in distinct_pairs], dtype=np.int32)[
        inverse
    ]
    site_pairs, pair_indices = _distinct_pairs(rows["site"], rows["function"])
    timed_s = np.bincount(pair_indices, weights=rows["lasted"] * rows["weight"], minlength=len(site_pairs))
    known_shares, typical_s = {}, {}
    factors = np.ones(len(site_pairs))
    for k, (site, function) in enumerate(site_pairs):
        total_s = observed_s.get((site, function), 0.0)
        if total_s <= 0 or timed_s[k] <= 0:
            continue
        timed_share = timed_s[k] / total_s
        if timed_share >= MIN_TIMED_SHARE:
            factors[k] = 1 / timed_share
        known_shares[site, function] = 1.0 if timed_share >= 0.9 else float(timed_share)
        site_rows = rows[pair_indices == k]
        typical_s[site, function] = _median(site_rows["lasted"] - site_rows["seconds"], site_rows["weight"])
    rows["seconds"] *= rows["weight"] * factors[pair_indices]
    return known_shares, typical_s


def _distinct_pairs(first: np.ndarray, second: np.ndarray) -> tuple[list[tuple[int, int]], np.ndarray]:
    """The distinct pairs, and the index of each pair among them."""
    keys = first.astype(np.int64) << 32 | (second.astype(np.int64) & 0xFFFFFFFF)
    distinct, inverse = np.unique(keys, return_inverse=True)
    pairs = zip((distinct >> 32).tolist(), (distinct & 0xFFFFFFFF).astype(np.int32).tolist(), strict=True)
    return list(pairs), inverse.reshape(-1)


def _median(values: np.ndarray, weights: np.ndarray) -> float:
    order = np.argsort(values)
    cumulative = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(cumulative, cumulative[-1] / 2)])


def _functions_at(launch: Launch) -> dict[tuple[int, int], int]:
    """The function with the most time at each site of each rank."""
    longest: dict[tuple[int, int], tuple[float, int]] = {}
    calls = launch.counted
    for rank, raw_site, function, seconds in zip(
        *(calls[name].tolist() for name in ("rank", "raw_site", "function", "seconds")), strict=True
    ):
        if seconds > longest.get((rank, raw_site), (-1.0, 0))[0]:
            longest[rank, raw_site] = seconds, function
    return {key: function for key, (_, function) in longest.items()}


def _oversubscribed_caveat(launch: Launch, cores: int) -> Caveat:
    return Caveat(
        "oversubscribed",
        f"{launch.most_ranks_on_a_host} ranks share {cores} cores, so that a rank that waits may only be "
        "without a core",
        "waiting and excess, which are not separated",
        f"run at most {cores} ranks on each host",
    )


def _caveats(matched: MatchedOperations) -> Iterator[Caveat]:
    if matched.across_hosts:
        yield Caveat(
            "clocks-of-hosts",
            f"{matched.across_hosts} timed messages and collectives are between hosts with clocks that are "
            "not known to agree",
            "waiting between hosts, which is not separated",
            "",
        )
    if matched.violations:
        text = (
            f"{matched.violations} of {matched.messages} timed messages seem to arrive before they are sent, "
            f"by {format_seconds(matched.worst_s)} at most"
        )
        if matched.doubted:
            text += ": the clocks disagree, and waiting for messages is not computed"
        yield Caveat("receive-before-send", text, "waiting for messages, which is not separated", "")
    if matched.incomplete:
        yield Caveat(
            "incomplete-collectives",
            f"{matched.incomplete} timed collectives lack members",
            "waiting at collectives",
            "",
        )
