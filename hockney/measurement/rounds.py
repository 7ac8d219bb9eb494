# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A run that is repeated over a period: its rounds, their start times and budgets.

Measuring one plan again and again shows how single runs scatter over minutes or hours, which consecutive
launches cannot, because disturbances last. Hanebutte and Tatsumi ('Study of Parallel Efficiency in Message
Passing Environments', 1996) plot single runs next to their mean for that reason.

Rounds begin every `every_s`, counted from the first, so that a round that takes too long delays the next one
but not those after it, as far as they can be shortened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hockney.core.notice import Notice
from hockney.core.option_names import option
from hockney.core.units import format_seconds
from hockney.measurement.bench import Bench
from hockney.measurement.events import Listener, Waiting
from hockney.store import Item, Plan

SLICE_S = 1.0
"""How often a wait is reported."""
LEAST_SHARE = 0.5
"""A late round has less time than the others, but never less than this fraction of its budget."""
LATE_SHARE = 0.05
"""A round that begins later than due by this fraction of the distance between rounds is reported."""


def rounds_of(plan: Plan, todo: Sequence[Item]) -> list[tuple[int, tuple[Item, ...]]]:
    """The remaining work by rounds: each one's number in the plan, from 0, and its items. A run that is not
    repeated is one round: all its launches share one budget."""
    if not plan.settings.every_s:
        return [(0, tuple(todo))] if todo else []
    groups = plan.groups  # looks at all items
    rounds: dict[int, list[Item]] = {}
    for item in sorted(todo, key=lambda item: (item.launch, item.order)):
        rounds.setdefault(item.launch // groups, []).append(item)
    return [(number, tuple(items)) for number, items in rounds.items()]


@dataclass
class Rounds:
    """`count` rounds from now on, each with `budget_s` for measuring. There is one if `every_s` is 0. With
    `ends`, their total time is that in which all would fit if none were late."""

    plan: Plan
    count: int
    budget_s: float
    bench: Bench
    listen: Listener
    ends: bool = False
    began: float = field(init=False)
    late: int = 0

    def __post_init__(self) -> None:
        self.began = self.bench.now()

    @property
    def every_s(self) -> float:
        return self.plan.settings.every_s

    @property
    def total_s(self) -> float:
        """The time from the first round's beginning to the last one's end, if none exceeds its time."""
        return max(0, self.count - 1) * self.every_s + self.budget_s

    def begin(self, k: int, number: int) -> bool:
        """Wait until the k-th of these rounds, the plan's `number`, is due (both from 0); False if the period
        is over before."""
        due = self.began + k * self.every_s
        late_s = self.bench.now() - due
        if k and self.ends and self._over():
            self.listen(period_over(self.count - k))
            return False
        if k and late_s > LATE_SHARE * self.every_s:
            self._report_late(number, late_s)
        while (ahead := due - self.bench.now()) > 0:
            self.listen(Waiting(ahead, number + 1, self.plan.settings.launches))
            self.bench.wait(min(ahead, SLICE_S))
        return True

    def share_s(self, k: int, items: int) -> float:
        """The time for `items` of the k-th round, which begins now: their share of its budget, less if the
        next round is due earlier."""
        if not self.every_s:
            return self.budget_s
        until_next = self.began + (k + 1) * self.every_s - self.bench.now()
        whole = min(self.budget_s, max(LEAST_SHARE * self.budget_s, until_next))
        return whole * items / len(self.plan.cases)

    def end(self) -> None:
        if self.late > 1:
            self.listen(rounds_late(self.late, self.count))

    def _over(self) -> bool:
        return self.bench.now() + LEAST_SHARE * self.budget_s > self.began + self.total_s

    def _report_late(self, number: int, late_s: float) -> None:
        """Reported once; `end` counts repeated occurrences."""
        self.late += 1
        if self.late == 1:
            self.listen(
                Notice(
                    f"round {number + 1} starts {format_seconds(late_s, 2)} late because the previous one "
                    f"took longer than the {format_seconds(self.every_s)} between rounds; use a larger "
                    f"{option('every')}",
                    "round-late",
                )
            )


def rounds_late(late: int, count: int) -> Notice:
    return Notice(f"{late} of {count} rounds started late", "rounds-late")


def period_over(left: int) -> Notice:
    return Notice(
        f"the period is over with {left} {'round' if left == 1 else 'rounds'} left because others took "
        "longer than their budget; 'hockney resume' measures them",
        "period-over",
    )
