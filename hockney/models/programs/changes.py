# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Programs with other messages than the kernel has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hockney.models.programs.program import Collective, Exchange, Messages, Pipeline, Program, Share


def shorter_messages(program: Program) -> Program:
    """Half the bytes, between two ranks and in collectives."""
    return _changed(
        program,
        exchange=lambda e: replace(e, sent=_halved(e.sent), received=_halved(e.received)),
        pipeline=lambda p: replace(p, sent=_shorter(p.sent), received=_shorter(p.received)),
        collective=lambda c: replace(c, bytes=_halved(c.bytes)),
    )


def fewer_messages(program: Program) -> Program:
    """Two exchanges at once."""
    return _changed(
        program,
        exchange=lambda e: replace(
            e, count=_half(e.count), sent=_doubled(e.sent), received=_doubled(e.received)
        ),
    )


def fewer_collectives(program: Program) -> Program:
    """Two calls at once."""
    return _changed(program, collective=lambda c: replace(c, count=_half(c.count), bytes=_doubled(c.bytes)))


def finer_pipelines(program: Program) -> Program:
    """Twice as many chunks."""
    return _changed(
        program,
        pipeline=lambda p: replace(p, chunks=2 * p.chunks, sent=_split(p.sent), received=_split(p.received)),
    )


def _changed(
    program: Program,
    *,
    exchange: Callable[[Exchange], Exchange] = lambda each: each,
    pipeline: Callable[[Pipeline], Pipeline] = lambda each: each,
    collective: Callable[[Collective], Collective] = lambda each: each,
) -> Program:
    def share(each: Share) -> Share:
        return replace(
            each,
            exchanges=tuple(map(exchange, each.exchanges)),
            pipeline=None if each.pipeline is None else pipeline(each.pipeline),
        )

    phases = (
        replace(
            phase,
            shares=tuple(map(share, phase.shares)),
            collectives=tuple(map(collective, phase.collectives)),
        )
        for phase in program.phases
    )
    return replace(program, phases=tuple(phases))


def _half(count: int) -> int:
    return -(-count // 2)


def _halved(sizes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(map(_half, sizes))


def _doubled(sizes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(2 * each for each in sizes)


def _shorter(messages: tuple[Messages, ...]) -> tuple[Messages, ...]:
    return tuple(Messages(each.count, _half(each.bytes)) for each in messages)


def _split(messages: tuple[Messages, ...]) -> tuple[Messages, ...]:
    return tuple(Messages(2 * each.count, _half(each.bytes)) for each in messages)
