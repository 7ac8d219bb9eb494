# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Transfers that share links with max-min fairness: no transfer can be faster without making a slower one
slower still (D. Bertsekas, R. Gallager, Data Networks, 1992, section 6.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

T = TypeVar("T")

EVEN = 1e-9
"""Shares, and ends of transfers, that differ by less (relatively) are equal."""


@dataclass(eq=False, slots=True)
class Flow(Generic[T]):
    """`left` bytes of `message` to transfer over `links`, all at once."""

    message: T
    links: np.ndarray
    left: float


class Links(Generic[T]):
    """Links with `rates` in bytes per second, and the transfers on them."""

    def __init__(self, rates: np.ndarray) -> None:
        self._capacity = rates
        self._flows: list[Flow[T]] = []
        self._left = np.zeros(0)
        self._rates = np.zeros(0)
        self._since = 0.0
        self._added: list[Flow[T]] = []

    @property
    def busy(self) -> bool:
        return bool(self._flows or self._added)

    def add(self, flow: Flow[T], now: float) -> None:
        self._advance(now)
        self._added.append(flow)

    def next_end(self, now: float) -> float:
        """When the next transfer ends if none is added; inf if there is none."""
        self._settle(now)
        return self._since + float((self._left / self._rates).min()) if self._flows else np.inf

    def ended(self, now: float) -> list[Flow[T]]:
        """Removes and returns the transfers that end at `now`, in the order in which they were added."""
        if not self._flows:
            return []
        over = self._left - self._rates * (now - self._since) <= EVEN * self._capacity.max() * 1e-3
        if not over.any():
            return []
        self._advance(now)
        done = [flow for flow, last in zip(self._flows, over, strict=True) if last]
        self._flows = [flow for flow, last in zip(self._flows, over, strict=True) if not last]
        self._left = self._left[~over]
        self._share()
        return done

    def _advance(self, now: float) -> None:
        self._left = np.maximum(self._left - self._rates * (now - self._since), 0.0)
        self._since = now

    def _settle(self, now: float) -> None:
        """Lets the transfers added since the last time begin."""
        if self._added:
            self._advance(now)
            self._flows += self._added
            self._left = np.concatenate((self._left, [flow.left for flow in self._added]))
            self._added = []
            self._share()

    def _share(self) -> None:
        self._rates = max_min([flow.links for flow in self._flows], self._capacity)


def max_min(links: list[np.ndarray], capacity: np.ndarray) -> np.ndarray:
    """The rate of each transfer, by progressive filling: the links with the smallest share per transfer fix
    the rates of the transfers that cross them, then those of the rest share what is left."""
    rates = np.zeros(len(links))
    if not links:
        return rates
    of_flow = np.repeat(np.arange(len(links)), [len(each) for each in links])
    of_link = np.concatenate(links)
    left = capacity.astype(float)
    while len(of_flow):
        users = np.bincount(of_link, minlength=len(left))
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(users > 0, left / users, np.inf)
        least = share.min()
        tight = share[of_link] <= least * (1 + EVEN)
        fixed = np.zeros(len(links), dtype=bool)
        fixed[of_flow[tight]] = True
        rates[fixed] = least
        gone = fixed[of_flow]
        np.subtract.at(left, of_link[gone], least)
        left = np.maximum(left, 0.0)
        of_flow, of_link = of_flow[~gone], of_link[~gone]
    return rates
