# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors and caveats of the study of annealing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hockney.core.errors import UsageError, unknown
from hockney.core.wording import listing, plural, together
from hockney.draw.page import Caveat
from hockney.pages.format import percent


def unknown_setup(name: str, known: Iterable[str]) -> UsageError:
    return unknown("set-up", name, known, code="unknown-setup")


def annealing_has_no_sizes() -> UsageError:
    return UsageError(
        "the messages of an annealing have no choice of sizes",
        "--sizes is for workloads with messages of a chosen size",
        "use size= for the size of the problem, for example size=200",
        code="annealing-has-no-sizes",
    )


def fewer_walkers_than_ranks(walkers: int, ranks: int) -> UsageError:
    return UsageError(
        f"{plural(walkers, 'walker')} cannot be divided among {ranks} ranks",
        "every rank needs one",
        f"use walkers={ranks} or more, or fewer ranks (--ranks)",
        code="fewer-walkers-than-ranks",
        walkers=walkers,
        ranks=ranks,
    )


def few_seeds(seeds: int, enough: int) -> Caveat:
    """The set-up with the fewest ran with so many `seeds`."""
    return Caveat(
        "few-seeds",
        f"energies were compared over {plural(seeds, 'seed')} only: the intervals hold if the differences "
        f"between seeds are normal, which fewer than {enough} seeds cannot show",
        "energies and times to target",
        "measure longer (--budget), or use a smaller problem, fewer steps or temperatures",
    )


def not_reproduced(setups: Sequence[str], seeds: int) -> Caveat:
    """Set-ups of which `seeds` runs with the same seed had different results."""
    return Caveat(
        "not-reproducible",
        f"runs of {together(setups)} with the same seed found different energies "
        f"(for {plural(seeds, 'seed')}): the time at which messages arrive decides which schedule is used",
        f"energies of {listing(list(setups))}",
        "take a set-up that waits, or one with lag=1, if results must be reproducible",
    )


def parts_do_not_add_up(setup: str, ranks: int, error: float) -> Caveat:
    """The worst of all cases."""
    return Caveat(
        "parts-do-not-add-up",
        f"the parts of the time of {setup} on {plural(ranks, 'rank')} differ from the whole by "
        f"{percent(error)}",
        "shares of computation and communication",
        "measure again on a quiet machine: a rank may have lost its core between two readings of the clock",
    )
