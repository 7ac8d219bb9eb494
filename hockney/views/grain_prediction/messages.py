# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of caveats about a prediction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from hockney.core.fit import LAUNCHES_IN_TWO_MODES
from hockney.core.units import format_percent, format_size
from hockney.core.wording import plural, together
from hockney.draw.page import Caveat
from hockney.models.applications.point_to_point_costs import Undecided

ALL = "all numbers"
NotMeasured = Literal["fake", "simulated", "published", "imported"]
NOT_MEASURED: dict[NotMeasured, str] = {
    "fake": "made up for tests",
    "simulated": "simulated",
    "published": "printed in a paper",
    "imported": "printed by another benchmark",
}


def numbers(cores: int, *, within: bool) -> str:
    """The numbers that depend on messages within a node of several `cores`, or on those between nodes; on
    all messages with 0 cores."""
    if cores < 2:
        return ALL
    return f"numbers on up to {cores} ranks, of one node" if within else f"numbers on more than {cores} ranks"


def poor_fit(reason: str, where: str) -> Caveat:
    """`where`: the numbers that depend on it."""
    return Caveat(
        "poor-fit",
        f"the model of messages is poor: {reason}",
        where,
        "survey on a quieter machine, or with a larger --budget",
    )


def launches_in_two_modes(found: str, where: str) -> Caveat:
    """`found` is the fit's caveat, `where` as above."""
    return Caveat(
        LAUNCHES_IN_TWO_MODES,
        f"{found}; chance decides how many are in each, and so the cost of a message",
        where,
        "predict for the fast mode with --cost undisturbed, or survey again or with a larger --budget",
    )


def guesses(parameters: Sequence[str], title: str, name: str) -> Caveat:
    return Caveat(
        "guesses",
        f"{together(parameters)} of {title} {'is' if len(parameters) == 1 else 'are'} guessed",
        ALL,
        f"'hockney machines --show {name}' shows what is known",
    )


def poor_calibration(title: str, reason: str) -> Caveat:
    return Caveat(
        "poor-calibration",
        f"the messages of {title} were calibrated from a poor fit: {reason}",
        ALL,
        "survey on a quieter machine, or with a larger --budget, and calibrate again",
    )


def two_mode_calibration(title: str, found: str) -> Caveat:
    return Caveat(
        "two-mode-calibration",
        f"{title} was calibrated from typical times, and {found}: its times are between both modes",
        ALL,
        "calibrate again with --cost undisturbed, or from a longer survey",
    )


def between_nodes(title: str, ranks: Sequence[int], most: int, reason: str) -> Caveat:
    """A node has room for `most` ranks; `reason` is why the cost is a guess."""
    return Caveat(
        "between-nodes",
        f"{together(ranks)} ranks of {title} are on several nodes; the cost of messages between nodes was "
        f"not measured and is a guess ({reason})",
        f"numbers on more than {plural(most, 'rank')}",
        "calibrate from a survey between two hosts, or with the --network of a machine that states where its "
        "costs are from",
    )


def noise(title: str) -> Caveat:
    return Caveat(
        "noise",
        f"message times of {title} vary, and the prediction uses the shortest",
        ALL,
        "simulate it with 'hockney run granularity'",
    )


def not_measured(origin: NotMeasured) -> Caveat:
    return Caveat(
        origin,
        f"the run's numbers were {NOT_MEASURED[origin]}, not measured",
        ALL,
        "give --run with a survey of a real machine to predict for it",
    )


def hot_buffers() -> Caveat:
    return Caveat(
        "hot-buffers",
        "the run measured no messages that were just written, as a program's are, only those in hot buffers, "
        "which are never rewritten",
        "predicted times, which are too short from a few KiB on",
        "measure a new survey, or pingpong buffers=written",
    )


def extrapolated(bytes_: float, smallest: float, largest: float) -> Caveat:
    return Caveat(
        "extrapolated",
        f"a message of {format_size(bytes_)} is extrapolated: {_measured(smallest, largest)}",
        ALL,
        "survey with --sizes that include it",
    )


def extrapolated_changes(changes: Sequence[str], smallest: float, largest: float) -> Caveat:
    """`changes` of the algorithm that make messages longer or shorter."""
    return Caveat(
        "extrapolated",
        f"the messages of {together(changes)} are extrapolated: {_measured(smallest, largest)}",
        "their improvements",
        "survey with --sizes that include it",
    )


def _measured(smallest: float, largest: float) -> str:
    return f"sizes from {format_size(smallest)} to {format_size(largest)} were measured"


def protocol_change(low: float, high: float, bytes_: float) -> Caveat:
    size, below, above = format_size(bytes_), format_size(low), format_size(high)
    return Caveat(
        "change",
        f"somewhere between {below} and {above} the library changes its protocol: whether before or after "
        f"{size} is unknown",
        ALL,
        f"survey with --sizes that include {size}, or predict for {below} or {above}",
    )


def imbalance(ranks: Sequence[int], factor: float) -> Caveat:
    return Caveat(
        "imbalance",
        f"on {together(ranks)} ranks, {factor:g} times the mean work is more than all of the work",
        f"numbers on {together(ranks)} ranks",
        "give a smaller --imbalance",
    )


def oversubscribed(ranks: Sequence[int], cores: int, ranks_a_core: Sequence[float]) -> Caveat:
    limits = (f"{format_percent(1 / share)} on {p}" for p, share in zip(ranks, ranks_a_core, strict=True))
    return Caveat(
        "oversubscribed",
        f"{together(ranks)} ranks share {plural(cores, 'core')}: those on one core compute in turn, so "
        f"efficiency is at most {together(limits)} ranks; the numbers include that, but not waiting for the "
        "scheduler",
        f"all numbers on {together(ranks)} ranks",
        "predict for fewer ranks, or for a machine with more cores",
    )


def larger_machine(ranks: Sequence[int], cores: int) -> Caveat:
    return Caveat(
        "larger-machine",
        f"{together(ranks)} ranks are predicted for a larger machine of this kind, assuming that messages "
        f"cost the same as on the {plural(cores, 'core')} of this one",
        f"all numbers on {together(ranks)} ranks",
        "leave out --larger-machine to let them share the cores",
    )


def one_host(ranks: Sequence[int], most: int) -> Caveat:
    """One host has room for `most` ranks."""
    return Caveat(
        "one-host",
        f"the ping-pong was within one host, but {together(ranks)} ranks need several",
        f"numbers on more than {most} ranks: between hosts a message costs more",
        "survey with the two ranks of a pair on two hosts",
    )


def one_level(ranks: Sequence[int], *, between: bool) -> Caveat:
    """Messages were measured `between` nodes only, or within a node only."""
    known, lacking, differ = (
        ("between nodes", "within a node", "less") if between else ("within a node", "between nodes", "more")
    )
    return Caveat(
        "one-level",
        f"messages {lacking} were not measured; they are assumed to cost the same as {known}",
        f"numbers on {together(ranks)} ranks: a message {lacking} costs {differ}",
        "survey with --nodes 2 and --ranks-per-node 2 or more",
    )


def network_assumed(ranks: Sequence[int], needed: int, possible: int, undecided: Undecided) -> Caveat:
    """`needed` cores are required to measure it; `possible` is a number of ranks on which this machine can, 0
    if it has too few cores. `undecided`: why exchanges that were measured do not tell."""
    if undecided == "contradictory":
        remedy = "the measured exchanges do not decide it; --network shared predicts the other case"
    elif not possible:
        remedy = f"measuring it needs {needed} cores; --network shared predicts the other case"
    else:
        out = "runs/longer" if undecided == "short" else "runs/network"
        sizes = " --sizes 1words,1MiB" if undecided == "short" else ""
        run = f"hockney run granularity --ranks 2,{possible} --out {out}{sizes}"
        remedy = f"'{run}' measures it; then predict with --run {out}"
    return Caveat(
        "network-assumed",
        "it is unknown whether simultaneous messages share the network; a switch is assumed",
        f"numbers on {together(ranks)} ranks",
        remedy,
    )
