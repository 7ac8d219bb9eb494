# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Traces of a launch: every call of each rank, in order.

A rank writes its trace into its own file, as engine/profile/trace.hpp defines it. After the run the traces of
a launch are packed into one file, which replaces them. It contains, for each rank, a dictionary of the
distinct calls, with peers relative to the rank; a grammar of the sequence, in which repetitions are folded;
and the times. Equal dictionaries and grammars of ranks are stored once."""

from __future__ import annotations

import contextlib
import dataclasses
import lzma
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from hockney.core.errors import EnvironmentProblem, HockneyError, printable
from hockney.profiles.manifest import Manifest, TraceMode
from hockney.profiles.profile import Launch, rank_clocks
from hockney.profiles.rank_file import RankFile, rank_list
from hockney.system.files import write_atomically

(
    NONE, SEND, RECEIVE, START_SEND, START_RECEIVE, END, COLLECTIVE, START_COLLECTIVE, PUT, GET, SYNCHRONIZE,
    PROBE,
) = range(12)  # fmt: skip
"""What a part of a call does: `What` of engine/profile/trace.hpp."""
WILDCARD, SYNCHRONOUS, BUFFERED, READY, CANCELLED, PARTITIONED, PERSISTENT, REQUEST = (
    1 << k for k in range(8)
)
"""Flags of parts: any sender or tag was asked for; the mode of a send; the message was cancelled; it is of a
partitioned or persistent request; a put or get starts a request."""
ANY, NO_PROCESS = -1, -2
"""Peers that are no rank: any, or an unknown one; MPI_PROC_NULL."""

PART = np.dtype(
    [
        ("what", "u1"),
        ("flags", "u1"),
        ("peer", "<i4"),
        ("tag", "<i4"),
        ("communicator", "<u4"),
        ("bytes", "<u8"),
        ("age", "<u4"),
        ("root", "<i4"),
    ]
)
"""What a call does for one message or operation. `peer` and `root` are ranks in MPI_COMM_WORLD. `age`: an end
completes the request that was started so many starts ago, 1 for the newest; starts are parts START_SEND,
START_RECEIVE and START_COLLECTIVE, and those with REQUEST. Ends of receives, and receives, have the sender,
tag and bytes of the message that was received (the room for it, if the program ignored the status). A matched
probe is a PROBE and a START_RECEIVE, which MPI_Mrecv ends. The `tag` of a persistent collective is its number
on the communicator, from 1, as these may be started in any order."""
EVENT = np.dtype([("call", "<u4"), ("enter", "<f8"), ("leave", "<f8")])

Counter = Literal["", "instructions", "cpu time"]
"""What a rank counted between its calls; "" for nothing."""
COUNTERS: tuple[Counter, ...] = ("", "instructions", "cpu time", "cpu time")
"""By number: `Counter` of engine/profile/counter.hpp."""
NANOSECOND = 1e-9

RAW, PACKED = "rank-*.trace", "traces.hkt"
VERSION, PACKED_VERSION = 1, 1
MAGIC, PACKED_MAGIC = b"HKTRACES", b"HKPACKED"
PAGE = 4096
LIMIT, NO_SPACE, THREADS, NOT_KNOWN = 1, 2, 4, 8
"""Why a trace ends early."""

_HEADER = np.dtype(
    [
        ("magic", "S8"),
        ("version", "<u4"),
        ("chunk_bytes", "<u4"),
        ("flags", "<u4"),
        ("rank", "<i4"),
        ("size", "<i4"),
        ("counter", "<u4"),
        ("begin", "<u8"),
        ("bias", "<u8"),
    ]
)
_CHUNK = np.dtype([("kind", "<u4"), ("number", "<u4")])
_EVENTS, _DEFINITIONS, _COUNTS = 1, 2, 3
_DEFINITION = np.dtype(
    [
        ("event", "<u8"),
        ("site", "<u4"),
        ("slot", "<u2"),
        ("function", "<u2"),
        ("place", "<u4"),
        ("parts", "<u4"),
        ("misses", "<u4"),
        ("reserved", "<u4"),
        ("what", "u1"),
        ("flags", "u1"),
        ("by", "<u2"),
        ("communicator", "<u4"),
        ("peer", "<i4"),
        ("tag", "<i4"),
        ("root", "<i4"),
        ("age", "<u4"),
        ("bytes", "<u8"),
    ]
)
_CALL = np.dtype([("function", "<u2"), ("misses", "<u2"), ("site", "<u4"), ("parts", "<u4")])


@dataclass(frozen=True)
class Call:
    """A distinct call of a rank: the function without MPI_, and the call site in the rank's file. `misses`:
    one or more tests or probes that found nothing."""

    function: str
    site: int
    misses: bool
    parts: np.ndarray


@dataclass(frozen=True)
class RankTrace:
    """The events of a rank in order, as indices into `calls`, with times in seconds of its clock, like those
    of samples. If not `complete`, the trace ends before the rank does. `counts` has the instructions, or the
    seconds of processor time, between each event and the one before it; empty without `counter`."""

    rank: int
    calls: tuple[Call, ...]
    events: np.ndarray
    complete: bool
    counter: Counter = ""
    counts: np.ndarray = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True)
class _Dictionary:
    """The distinct calls: rows of _CALL, and the parts of all of them."""

    calls: np.ndarray
    parts: np.ndarray

    def calls_of(self, functions: Sequence[str]) -> tuple[Call, ...]:
        ends = np.cumsum(self.calls["parts"], dtype=np.int64).tolist()
        named = [
            functions[k] if k < len(functions) else f"function {k}" for k in self.calls["function"].tolist()
        ]
        return tuple(
            Call(name, site, bool(misses), self.parts[end - count : end])
            for name, site, misses, count, end in zip(
                named,
                self.calls["site"].tolist(),
                self.calls["misses"].tolist(),
                self.calls["parts"].tolist(),
                ends,
                strict=True,
            )
        )


@dataclass(frozen=True)
class _Sequence:
    """A trace in ticks. `ids` are calls of the dictionary, `gaps` and `durations` the ticks before and in
    each call. `counts` are those of the counter with this number, each `bias` too large."""

    rank: int
    size: int
    flags: int
    begin: int
    dictionary: _Dictionary
    ids: np.ndarray
    gaps: np.ndarray
    durations: np.ndarray
    counter: int = 0
    bias: int = 0
    counts: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint64))

    @property
    def counted(self) -> tuple[Counter, np.ndarray]:
        """What was counted, and the instructions or seconds before each event."""
        counter = COUNTERS[self.counter] if self.counter < len(COUNTERS) else ""
        if not counter or len(self.counts) < len(self.ids):
            return "", np.zeros(0)
        counts = np.maximum(self.counts.astype(np.float64) - self.bias, 0.0)
        return counter, counts * NANOSECOND if counter == "cpu time" else counts

    def events(self, seconds: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        times = np.empty(2 * len(self.ids), np.float64)
        times[::2], times[1::2] = self.gaps, self.durations
        ticks = np.cumsum(times, out=times)
        rows = np.empty(len(self.ids), EVENT)
        rows["call"] = self.ids
        at = seconds(np.rint(ticks).astype(np.uint64) + np.uint64(self.begin))
        rows["enter"], rows["leave"] = at[::2], at[1::2]
        return rows


def read_traces(launch: Launch) -> list[RankTrace]:
    """The traces of a launch, of all ranks that have one, in the order of its ranks. A rank has none if more
    than one of its threads called MPI. Raises HockneyError."""
    return traces_for_files(launch.files, launch.functions)


def traces_for_files(files: Sequence[RankFile], functions: Sequence[str]) -> list[RankTrace]:
    """The traces next to these rank files."""
    clocks = rank_clocks(files)
    packs: dict[Path, _Pack | None] = {}
    found = []
    for file, clock in zip(files, clocks, strict=True):
        folder = file.path.parent
        if folder not in packs:
            packs[folder] = _Pack.read(folder / PACKED) if (folder / PACKED).is_file() else None
        sequence = _sequence_of(file, packs[folder], functions)
        if sequence is None or sequence.flags & THREADS:
            continue
        found.append(
            RankTrace(
                file.rank,
                sequence.dictionary.calls_of(functions),
                sequence.events(clock.seconds),
                file.is_finalized and not sequence.flags,
                *sequence.counted,
            )
        )
    return found


def _sequence_of(file: RankFile, pack: _Pack | None, functions: Sequence[str]) -> _Sequence | None:
    if pack is not None and file.path.stem in pack.places:
        return pack.sequence(file.path.stem)
    raw = file.path.with_suffix(".trace")
    return read_raw(raw, functions) if raw.is_file() else None


def trace_flags(folder: Path) -> dict[str, int]:
    """Why each trace of a launch ends early, by file name without suffix; 0 if it does not."""
    flags = {}
    if (folder / PACKED).is_file():
        flags = {each.name: each.flags for each in _Pack.read(folder / PACKED).index.ranks}
    for path in folder.glob(RAW):
        with contextlib.suppress(HockneyError, OSError), open(path, "rb") as file:
            flags.setdefault(path.stem, int(_header(file.read(PAGE), path)["flags"]))
    return flags


# The file of a rank.


def _header(content: bytes, path: Path) -> np.void:
    if len(content) < PAGE or not content.startswith(MAGIC):
        raise EnvironmentProblem(
            f"{printable(str(path))} cannot be used",
            "it is not the trace of a rank",
            code="foreign-trace",
            path=str(path),
        )
    header: np.void = np.frombuffer(content, _HEADER, 1)[0]
    if int(header["version"]) != VERSION:
        raise _other_version(path, int(header["version"]), VERSION)
    return header


def _other_version(path: Path, found: int, known: int) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"{printable(str(path))} has another format",
        f"it is of version {found}, and this hockney reads version {known}",
        "read it with the hockney that made it",
        code="other-trace-version",
        path=str(path),
        version=found,
    )


def _content(path: Path) -> np.ndarray:
    """The content of a file, mapped because a trace may exceed the free memory."""
    try:
        return np.memmap(path, np.uint8, "r")
    except (OSError, ValueError) as error:
        raise EnvironmentProblem(
            f"{printable(str(path))} cannot be read", str(error), code="unreadable-trace", path=str(path)
        ) from error


def read_raw(path: Path, functions: Sequence[str]) -> _Sequence:
    """Read the trace that a rank wrote, up to its end. Raises HockneyError if it is not one."""
    content = _content(path)
    header = _header(content[:PAGE].tobytes(), path)
    size = int(header["chunk_bytes"])
    count = (len(content) - PAGE) // size if size > _CHUNK.itemsize else 0
    chunks = content[PAGE : PAGE + count * size].reshape(count, size) if count else content[:0].reshape(0, 0)
    heads = np.ascontiguousarray(chunks[:, : _CHUNK.itemsize]).view(_CHUNK).reshape(-1)
    words = _body(chunks, heads, _EVENTS).view("<u8")
    empty = np.flatnonzero(words == 0)
    words = words[: empty[0]] if len(empty) else words
    rows = _body(chunks, heads, _DEFINITIONS).view(_DEFINITION)
    dictionary, slots, starts, meanings = _definitions(rows[rows["event"] > 0], functions)
    ids, known = _call_ids((words >> np.uint64(48)).astype(np.int64), slots, starts, meanings)
    flags = int(header["flags"]) | (0 if known == len(words) else NOT_KNOWN)
    words = words[:known]
    counts = _body(chunks, heads, _COUNTS).view("<u4")[:known]
    return _Sequence(
        int(header["rank"]),
        int(header["size"]),
        flags,
        int(header["begin"]),
        dictionary,
        ids,
        _decode_ticks(words >> np.uint64(24) & np.uint64(0xFFFFFF)),
        _decode_ticks(words & np.uint64(0xFFFFFF)),
        int(header["counter"]) if len(counts) == known else 0,
        int(header["bias"]),
        _decode_ticks(counts.astype(np.uint64)),
    )


def _body(chunks: np.ndarray, heads: np.ndarray, kind: int) -> np.ndarray:
    """The bytes of all chunks of a kind without their headers, in order."""
    places = np.flatnonzero(heads["kind"] == kind)
    places = places[np.argsort(heads["number"][places], kind="stable")]
    record = {_EVENTS: 8, _DEFINITIONS: _DEFINITION.itemsize, _COUNTS: 4}[kind]
    used = (chunks.shape[1] - _CHUNK.itemsize) // record * record if len(places) else 0
    return np.ascontiguousarray(chunks[places][:, _CHUNK.itemsize : _CHUNK.itemsize + used]).reshape(-1)


def _decode_ticks(codes: np.ndarray) -> np.ndarray:
    """Decode floating-point numbers with 20 significant bits to ticks, like `decoded` of
    engine/profile/trace.hpp."""
    shift = np.maximum(codes >> np.uint64(19), np.uint64(1)) - np.uint64(1)
    return (codes - (shift << np.uint64(19))) << shift


def _definitions(
    rows: np.ndarray, functions: Sequence[str]
) -> tuple[_Dictionary, np.ndarray, np.ndarray, np.ndarray]:
    """The distinct calls, and for each definition its slot, the first event for which it holds, and its
    call."""
    firsts = np.flatnonzero(rows["place"] == 0)
    lengths = np.maximum(rows["parts"][firsts].astype(np.int64), 1)
    whole = firsts + lengths <= len(rows)
    firsts, lengths = firsts[whole], lengths[whole]
    same = rows.copy()
    for name in ("event", "slot", "reserved"):
        same[name] = 0
    numbers: dict[bytes, int] = {}
    meanings = np.empty(len(firsts), np.int64)
    kept: list[int] = []
    for k, (first, length) in enumerate(zip(firsts.tolist(), lengths.tolist(), strict=True)):
        key = same[first : first + length].tobytes()
        meanings[k] = numbers.setdefault(key, len(numbers))
        if len(kept) < len(numbers):
            kept.append(k)
    calls = np.zeros(len(kept), _CALL)
    for name in ("function", "misses", "site", "parts"):
        calls[name] = rows[name][firsts[kept]]
    places = concatenated_ranges(firsts[kept], calls["parts"].astype(np.int64))
    parts = np.zeros(len(places), PART)
    for name in PART.names or ():
        parts[name] = rows[name][places]
    parts["flags"] |= _flags_of(functions)[np.minimum(rows["by"][places], len(functions))]
    parts["flags"][np.isin(parts["what"], (END, PROBE))] &= WILDCARD | CANCELLED
    slots = rows["slot"][firsts].astype(np.int64)
    starts = rows["event"][firsts].astype(np.int64) - 1
    return _Dictionary(calls, parts), slots, starts, meanings


def concatenated_ranges(firsts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The concatenated ranges that begin at `firsts` and have `lengths` elements."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(firsts - ends + lengths, lengths)


def _flags_of(functions: Sequence[str]) -> np.ndarray:
    """The flags that follow from the name of each function; the last element is for no function."""
    flags = np.zeros(len(functions) + 1, np.uint8)
    for k, name in enumerate(functions):
        lower = name.lower()
        stem = lower.removeprefix("i").removesuffix("_init")
        flags[k] |= {"ssend": SYNCHRONOUS, "bsend": BUFFERED, "rsend": READY}.get(stem, 0)
        if lower in ("psend_init", "precv_init"):
            flags[k] |= PARTITIONED
        if lower.endswith("_init"):
            flags[k] |= PERSISTENT
    return flags


def _call_ids(
    slots: np.ndarray, of: np.ndarray, starts: np.ndarray, meanings: np.ndarray
) -> tuple[np.ndarray, int]:
    """The call of each event, from the last definition of its slot before it, and how many events have
    one."""
    if len(of) == 0:
        return np.zeros(0, np.int64), 0
    if len(np.unique(of)) == len(of):
        table = np.full(1 << 16, -1)
        table[of] = meanings
        ids = table[slots]
    else:
        order = np.lexsort((starts, of))
        keys = of[order] << 44 | starts[order]
        place = np.searchsorted(keys, slots << 44 | np.arange(len(slots)), side="right") - 1
        ids = np.where((place >= 0) & (of[order][place] == slots), meanings[order][place], -1)
    unknown = np.flatnonzero(ids < 0)
    known = int(unknown[0]) if len(unknown) else len(ids)
    return ids[:known], known


# The grammar of a sequence.


@dataclass(frozen=True)
class Grammar:
    """Symbols below `terminals` are calls. The others are rules: two consecutive symbols or, where `counts`
    is not 0, that many repetitions of `left`. Rules use only earlier symbols. `top` is the sequence."""

    terminals: int
    left: np.ndarray
    right: np.ndarray
    counts: np.ndarray
    top: np.ndarray

    @property
    def length(self) -> int:
        """The length of the sequence. Raises IndexError for a rule that uses a later symbol."""
        lengths = [1] * self.terminals
        for left, right, count in zip(
            self.left.tolist(), self.right.tolist(), self.counts.tolist(), strict=True
        ):
            lengths.append(lengths[left] * count if count else lengths[left] + lengths[right])
        return sum(lengths[symbol] for symbol in self.top.tolist())


MIN_OCCURRENCES = 3
"""A pair of symbols that is less frequent gets no rule."""
MAX_ROUNDS = 100
_DENSE_PAIR_LIMIT = 2048
"""Up to this number of different symbols, pairs are counted in a table."""


def build_grammar(ids: np.ndarray, terminals: int) -> Grammar:
    """Build a grammar in rounds: runs of a symbol are folded first, then all occurrences of frequent pairs.
    Pairs of a round do not overlap, because no symbol is the left one of one pair and the right one of
    another. Equal parts of the sequence thus get equal symbols."""
    top = np.asarray(ids, np.int64)
    left: list[np.ndarray] = []
    right: list[np.ndarray] = []
    counts: list[np.ndarray] = []
    symbols = terminals

    def add(a: np.ndarray, b: np.ndarray, n: np.ndarray) -> None:
        nonlocal symbols
        left.append(a)
        right.append(b)
        counts.append(n)
        symbols += len(a)

    for _ in range(MAX_ROUNDS):
        before = len(top)
        starts = np.flatnonzero(np.concatenate(([True], top[1:] != top[:-1]))) if len(top) else top
        lengths = np.diff(np.append(starts, len(top)))
        long = lengths > 1
        if long.any():
            runs = top[starts[long]] << 40 | lengths[long]
            distinct, inverse = np.unique(runs, return_inverse=True)
            top = top[starts]
            top[long] = symbols + inverse.reshape(-1)
            add(distinct >> 40, np.zeros(len(distinct), np.int64), distinct & ((1 << 40) - 1))
        if len(top) > 1:
            top, pairs = _replace_pairs(top, symbols)
            if len(pairs):
                add(pairs[:, 0], pairs[:, 1], np.zeros(len(pairs), np.int64))
        if len(top) == before:
            break
    first, second, times = (
        np.concatenate(each) if each else np.zeros(0, np.int64) for each in (left, right, counts)
    )
    return Grammar(terminals, first, second, times, top)


def _replace_pairs(top: np.ndarray, symbols: int) -> tuple[np.ndarray, np.ndarray]:
    """The sequence with frequent pairs replaced by new symbols, from `symbols` on, and the pairs."""
    used = np.flatnonzero(np.bincount(top, minlength=symbols))
    table = np.zeros(symbols, np.int64)
    table[used] = np.arange(len(used))
    dense = table[top]
    keys = dense[:-1] * len(used) + dense[1:]
    if len(used) <= _DENSE_PAIR_LIMIT:
        often = np.bincount(keys)
        distinct = np.flatnonzero(often >= MIN_OCCURRENCES)
        often, where = often[distinct], keys
    else:
        distinct, where, often = np.unique(keys, return_inverse=True, return_counts=True)
        where = where.reshape(-1)
    side = np.zeros(len(used), np.int8)  # 1: left in this round, 2: right
    order = np.argsort(-often, kind="stable")
    order = order[often[order] >= MIN_OCCURRENCES]
    chosen = []
    for k, a, b in zip(
        order.tolist(),
        (distinct[order] // len(used)).tolist(),
        (distinct[order] % len(used)).tolist(),
        strict=True,
    ):
        if side[a] != 2 and side[b] != 1 and a != b:
            side[a], side[b] = 1, 2
            chosen.append(k)
    if not chosen:
        return top, np.zeros((0, 2), np.int64)
    new = np.full(len(used) ** 2 if len(used) <= _DENSE_PAIR_LIMIT else len(distinct), -1, np.int64)
    new[distinct[chosen] if len(used) <= _DENSE_PAIR_LIMIT else chosen] = symbols + np.arange(len(chosen))
    symbol = new[where]
    at = np.flatnonzero(symbol >= 0)
    replaced = top.copy()
    replaced[at] = symbol[at]
    pairs = np.stack((used[distinct[chosen] // len(used)], used[distinct[chosen] % len(used)]), axis=1)
    return np.delete(replaced, at + 1), pairs


MIN_TEMPLATE_USES = 16
"""A rule that occurs as often in the sequence has positions of its own."""


def expand_grammar(grammar: Grammar) -> tuple[np.ndarray, np.ndarray]:
    """The position in the grammar of each event, and the call at each position. Events at the same position
    are equal calls with the same neighbors, so their times are similar. A frequently used rule has one
    position for each of its events, shared by all repetitions."""
    rules = len(grammar.left)
    base = grammar.terminals
    uses = np.zeros(base + rules, np.int64)
    np.add.at(uses, grammar.top, 1)
    last_use = np.full(base + rules, -1)
    left, right, counts = grammar.left.tolist(), grammar.right.tolist(), grammar.counts.tolist()
    for rule in range(rules - 1, -1, -1):
        times = int(uses[base + rule])
        for child, each in ((left[rule], counts[rule] or 1), (right[rule], 0 if counts[rule] else 1)):
            if each:
                uses[child] += times * each
                last_use[child] = max(last_use[child], rule)
    last_use[grammar.top] = rules
    # Of each symbol: its expansion, in which numbers from 0 on are events that have no position yet, and
    # -1 - p is position p; and the calls of the former.
    templates: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    resolved: dict[int, np.ndarray] = {}
    calls: list[np.ndarray] = []
    positions = 0

    def template(symbol: int) -> tuple[np.ndarray, np.ndarray]:
        if symbol < base:
            return np.zeros(1, np.int32), np.array([symbol])
        return templates[symbol]

    def settled(symbol: int) -> np.ndarray:
        nonlocal positions
        if symbol not in resolved:
            content, own = template(symbol)
            resolved[symbol] = np.where(content < 0, content, -1 - positions - content).astype(np.int32)
            calls.append(own)
            positions += len(own)
        return resolved[symbol]

    nothing = np.zeros(0, np.int64)
    for rule in range(rules):
        symbol, a, b, count = base + rule, left[rule], right[rule], counts[rule]
        if count:
            templates[symbol] = np.tile(settled(a), count), nothing
        elif uses[symbol] < MIN_TEMPLATE_USES:
            templates[symbol] = np.concatenate((settled(a), settled(b))), nothing
        else:
            (of_a, calls_a), (of_b, calls_b) = template(a), template(b)
            moved = np.where(of_b < 0, of_b, of_b + len(calls_a)).astype(np.int32)
            templates[symbol] = np.concatenate((of_a, moved)), np.concatenate((calls_a, calls_b))
        for child in (a, b):
            if last_use[child] == rule:
                templates.pop(child, None)
                resolved.pop(child, None)
    parts = [settled(symbol) for symbol in grammar.top.tolist()]
    sequence = np.concatenate(parts) if parts else np.zeros(0, np.int32)
    return -1 - sequence.astype(np.int64), np.concatenate(calls) if calls else nothing


# Times.

STEPS = 70
"""Of the times in a pack per factor of two: so fine that an error is at most 0.5%, and the correction of the
sums at most as much again."""
BLOCK = 1024
"""Events whose times together are exact."""
NEAR, LARGE_STEP = 63, 32
"""A time within NEAR steps of the median of its position is one byte: the difference. For other times, the
byte is the number of FAR steps, and the rest follows."""
COARSE = 8
"""The number of steps in a bin of a summary's histogram."""


def _ticks_to_steps(ticks: np.ndarray) -> np.ndarray:
    ticks = np.asarray(ticks, np.float32)
    return np.where(ticks < 1, 0, 1 + np.rint(STEPS * np.log2(np.maximum(ticks, 1)))).astype(np.int16)


def _steps_to_ticks(steps: np.ndarray) -> np.ndarray:
    return np.where(steps > 0, np.exp2((np.maximum(steps, 1) - 1) / STEPS), 0.0)


def _pack_times(positions: np.ndarray, gaps: np.ndarray, durations: np.ndarray) -> bytes:
    order = np.argsort(positions, kind="stable")
    sums = np.add.reduceat(gaps + durations, np.arange(0, len(gaps), BLOCK)) if len(gaps) else gaps
    parts = [_lzma_compress(sums.astype("<u8").tobytes())]
    for ticks in (gaps, durations):
        steps = _ticks_to_steps(ticks)[order]
        firsts, typical = _typical_steps(positions[order], steps)
        rest = steps - np.repeat(typical, np.diff(np.append(firsts, len(steps))))
        far = np.abs(rest) > NEAR
        symbols = np.where(far, 2 * NEAR + 1 + steps // LARGE_STEP, rest + NEAR)
        parts += [
            _lzma_compress(typical.astype("<u2").tobytes()),
            _entropy_encode(symbols.astype(np.uint8).tobytes()),
            _entropy_encode((steps[far] % LARGE_STEP).astype(np.uint8).tobytes()),
        ]
    return _joined(parts)


def _unpack_times(content: bytes, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(positions, kind="stable")
    sums, *parts = _split(content)
    firsts = _first_indices(positions[order])
    lengths = np.diff(np.append(firsts, len(order)))
    found = []
    for typical, rest, far in (parts[:3], parts[3:]):
        symbols = np.frombuffer(_entropy_decode(rest), np.uint8).astype(np.int64)
        near = (
            np.repeat(np.frombuffer(_lzma_decompress(typical), "<u2").astype(np.int64), lengths)
            + symbols
            - NEAR
        )
        is_far = symbols > 2 * NEAR
        steps = np.where(is_far, (symbols - 2 * NEAR - 1) * LARGE_STEP, near)
        steps[is_far] += np.frombuffer(_entropy_decode(far), np.uint8)
        ticks = np.empty(len(order))
        ticks[order] = _steps_to_ticks(steps)
        found.append(ticks)
    gaps, durations = found
    if len(order):
        blocks = np.arange(0, len(order), BLOCK)
        exact = np.frombuffer(_lzma_decompress(sums), "<u8").astype(np.float64)
        factor = exact / np.maximum(np.add.reduceat(gaps + durations, blocks), 1e-300)
        scale = np.repeat(np.where(exact > 0, factor, 0.0), np.diff(np.append(blocks, len(order))))
        gaps *= scale
        durations *= scale
    return gaps, durations


def _first_indices(sorted_positions: np.ndarray) -> np.ndarray:
    """The index of the first event of each position."""
    new = np.ones(len(sorted_positions), bool)
    new[1:] = sorted_positions[1:] != sorted_positions[:-1]
    return np.flatnonzero(new)


def _typical_steps(sorted_positions: np.ndarray, steps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The index of the first event of each position, and the median of its steps."""
    firsts = _first_indices(sorted_positions)
    ends = np.append(firsts[1:], len(steps))
    by_size = steps[np.lexsort((steps, sorted_positions))]
    return firsts, by_size[(firsts + ends) // 2] if len(firsts) else firsts


_MAX_BINS = 1 << 12


def _pack_summary(positions: np.ndarray, gaps: np.ndarray, durations: np.ndarray) -> bytes:
    parts = []
    for ticks in (gaps, durations):
        bins = _ticks_to_steps(ticks) // COARSE
        distinct, often = np.unique(positions * _MAX_BINS + bins, return_counts=True)
        totals = np.bincount(positions, ticks.astype(np.float64)) if len(ticks) else ticks
        parts += [
            _lzma_compress(np.bincount(distinct // _MAX_BINS).astype("<u2").tobytes()),
            _lzma_compress((distinct % _MAX_BINS).astype("<u2").tobytes()),
            _lzma_compress(often.astype("<u4").tobytes()),
            _lzma_compress(totals.astype("<f4").tobytes()),
        ]
    return _joined(parts)


GOLDEN = 0.6180339887498949
"""Multiples of it are evenly spread, in an order without periods."""


def _unpack_summary(content: bytes, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Recreate times with the histograms and sums of their positions."""
    order = np.argsort(positions, kind="stable")
    firsts = _first_indices(positions[order])
    number = np.arange(len(order)) - np.repeat(firsts, np.diff(np.append(firsts, len(order))))
    spread = np.lexsort((number * GOLDEN % 1.0, positions[order]))
    parts = _split(content)
    found = []
    for _, bins, often, totals in (parts[:4], parts[4:]):
        middles = np.frombuffer(_lzma_decompress(bins), "<u2").astype(np.int64) * COARSE + COARSE // 2
        sorted_ticks = np.repeat(
            _steps_to_ticks(middles), np.frombuffer(_lzma_decompress(often), "<u4").astype(np.int64)
        )
        ticks = np.empty(len(order))
        ticks[order[spread]] = sorted_ticks
        exact = np.frombuffer(_lzma_decompress(totals), "<f4").astype(np.float64)
        sums = np.bincount(positions, ticks, len(exact)) if len(order) else exact
        ticks *= (exact / np.maximum(sums, 1e-300))[positions] if len(order) else 1.0
        found.append(ticks)
    return found[0], found[1]


# The packed file.

_LZMA = {"id": lzma.FILTER_LZMA2, "preset": 6, "lc": 0, "pb": 0}
"""Records have no common alignment, and the byte before a time tells nothing of it."""
_MUCH = 1 << 20


def _lzma_compress(content: bytes) -> bytes:
    return lzma.compress(content, lzma.FORMAT_RAW, filters=[_LZMA])


def _lzma_decompress(content: bytes) -> bytes:
    return lzma.decompress(content, lzma.FORMAT_RAW, filters=[_LZMA])


def _entropy_encode(content: bytes) -> bytes:
    """Compress bytes with a skewed distribution and few repetitions. Huffman codes alone need a tenth more
    space than LZMA2, and a thirtieth of the time."""
    if len(content) <= _MUCH:
        return b"L" + _lzma_compress(content)
    coder = zlib.compressobj(9, strategy=zlib.Z_HUFFMAN_ONLY)
    return b"H" + coder.compress(content) + coder.flush()


def _entropy_decode(content: bytes) -> bytes:
    return _lzma_decompress(content[1:]) if content.startswith(b"L") else zlib.decompress(content[1:])


def _joined(parts: Sequence[bytes]) -> bytes:
    lengths = np.array([len(parts), *map(len, parts)], "<u4")
    return lengths.tobytes() + b"".join(parts)


def _split(content: bytes) -> list[bytes]:
    count = int(np.frombuffer(content, "<u4", 1)[0])
    lengths = np.frombuffer(content, "<u4", count, 4).tolist()
    at = 4 * (count + 1)
    parts = []
    for length in lengths:
        parts.append(content[at : at + length])
        at += length
    return parts


class PackedRank(msgspec.Struct, frozen=True):
    """`name` is that of the rank's files without suffix. Peers are relative to `rank`, modulo `size`.
    `dictionary`, `grammar`, `times` and `counts` (-1: none) are numbers of blobs, `events` is the length of
    the sequence."""

    name: str
    rank: int
    size: int
    events: int
    flags: int
    begin: int
    dictionary: int
    grammar: int
    times: int
    counts: int = -1
    counter: int = 0
    bias: int = 0


class PackedIndex(msgspec.Struct, frozen=True):
    mode: TraceMode
    blobs: list[int]
    """Their lengths."""
    ranks: list[PackedRank]


@dataclass(frozen=True)
class _Pack:
    """A packed file: the magic number, the version and the length of the index as 32-bit numbers, the index
    as JSON, and the blobs."""

    path: Path
    index: PackedIndex
    places: dict[str, PackedRank]
    content: np.ndarray
    starts: list[int]

    @staticmethod
    def read(path: Path) -> _Pack:
        content = _content(path)
        head = content[:16].tobytes()
        if len(head) < 16 or not head.startswith(PACKED_MAGIC):
            raise _damaged(path, "it has no traces")
        version, length = np.frombuffer(head, "<u4", 2, 8).tolist()
        if version != PACKED_VERSION:
            raise _other_version(path, version, PACKED_VERSION)
        try:
            index = msgspec.json.decode(
                zlib.decompress(content[16 : 16 + length].tobytes()), type=PackedIndex
            )
        except (msgspec.MsgspecError, zlib.error) as error:
            raise _damaged(path, str(error)) from error
        starts = [16 + length + at for at in np.cumsum([0, *index.blobs]).tolist()]
        if starts[-1] != len(content):
            raise _damaged(path, "its length is another one than its index says")
        return _Pack(path, index, {each.name: each for each in index.ranks}, content, starts)

    def blob(self, number: int) -> bytes:
        return self.content[self.starts[number] : self.starts[number + 1]].tobytes()

    def sequence(self, name: str) -> _Sequence:
        place = self.places[name]
        try:
            dictionary = _unpack_dictionary(self.blob(place.dictionary), place.rank, place.size)
            grammar = _unpack_grammar(self.blob(place.grammar))
            if grammar.length != place.events:
                raise ValueError("the sequence has another length")
            positions, calls = expand_grammar(grammar)
            unpack = _unpack_times if self.index.mode == "all" else _unpack_summary
            gaps, durations = unpack(self.blob(place.times), positions)
            counts = np.zeros(0)
            if place.counts >= 0:
                counts, _ = unpack(self.blob(place.counts), positions)
        except (lzma.LZMAError, zlib.error, ValueError, IndexError, KeyError) as error:
            raise _damaged(self.path, str(error)) from error
        ids = calls[positions]
        return _Sequence(
            place.rank,
            place.size,
            place.flags,
            place.begin,
            dictionary,
            ids,
            gaps,
            durations,
            place.counter,
            place.bias,
            counts,
        )


def _damaged(path: Path, why: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"{printable(str(path))} cannot be used",
        why,
        "profile the program again",
        code="damaged-trace",
        path=str(path),
    )


def _pack_dictionary(dictionary: _Dictionary, rank: int, size: int) -> bytes:
    parts = dictionary.parts.copy()
    of_ranks = parts["peer"] >= 0
    parts["peer"][of_ranks] = (parts["peer"][of_ranks] - rank) % size
    columns = [dictionary.calls[name].tobytes() for name in _CALL.names or ()]
    return _joined(
        [
            _lzma_compress(b"".join(columns)),
            _lzma_compress(b"".join(parts[name].tobytes() for name in PART.names or ())),
        ]
    )


def _unpack_dictionary(content: bytes, rank: int, size: int) -> _Dictionary:
    calls, parts = (
        _rows_from_columns(_lzma_decompress(each), dtype)
        for each, dtype in zip(_split(content), (_CALL, PART), strict=True)
    )
    of_ranks = parts["peer"] >= 0
    parts["peer"][of_ranks] = (parts["peer"][of_ranks] + rank) % size
    return _Dictionary(calls, parts)


def _rows_from_columns(content: bytes, dtype: np.dtype[Any]) -> np.ndarray:
    count, at = len(content) // dtype.itemsize, 0
    rows = np.empty(count, dtype)
    for name in dtype.names or ():
        column = dtype[name]
        rows[name] = np.frombuffer(content, column, count, at)
        at += column.itemsize * count
    return rows


def _pack_grammar(grammar: Grammar) -> bytes:
    arrays = grammar.left, grammar.right, grammar.counts, grammar.top
    return _joined(
        [
            np.array(grammar.terminals, "<u4").tobytes(),
            *(_lzma_compress(each.astype("<u4").tobytes()) for each in arrays),
        ]
    )


def _unpack_grammar(content: bytes) -> Grammar:
    terminals, *parts = _split(content)
    left, right, counts, top = (
        np.frombuffer(_lzma_decompress(each), "<u4").astype(np.int64) for each in parts
    )
    return Grammar(int(np.frombuffer(terminals, "<u4")[0]), left, right, counts, top)


def pack_traces(folder: Path, mode: TraceMode, functions: Sequence[str]) -> int:
    """Pack the traces in a launch's folder into one file, and remove them. Returns their number. If this
    fails or is interrupted, the traces stay unchanged. Raises HockneyError, OSError."""
    paths = sorted(folder.glob(RAW))
    if not paths:
        return 0
    numbers: dict[bytes, int] = {}
    ranks = []

    def blob(content: bytes) -> int:
        return numbers.setdefault(content, len(numbers))

    for path in paths:
        trace = read_raw(path, functions)
        if trace.flags & THREADS:
            trace = _without_events(trace)
        grammar = build_grammar(trace.ids, len(trace.dictionary.calls))
        positions, _ = expand_grammar(grammar)
        size = max(1, trace.size, trace.rank + 1, int(trace.dictionary.parts["peer"].max(initial=-1)) + 1)
        times = _pack_times if mode == "all" else _pack_summary
        ranks.append(
            PackedRank(
                path.stem,
                trace.rank,
                size,
                len(trace.ids),
                trace.flags,
                trace.begin,
                blob(_pack_dictionary(trace.dictionary, trace.rank, size)),
                blob(_pack_grammar(grammar)),
                blob(times(positions, trace.gaps, trace.durations)),
                blob(times(positions, trace.counts, np.zeros_like(trace.counts))) if trace.counter else -1,
                trace.counter,
                trace.bias,
            )
        )
    index = zlib.compress(msgspec.json.encode(PackedIndex(mode, list(map(len, numbers)), ranks)))
    head = PACKED_MAGIC + np.array([PACKED_VERSION, len(index)], "<u4").tobytes()
    write_atomically(folder / PACKED, b"".join((head, index, *numbers)))
    for path in paths:
        path.unlink(missing_ok=True)
    return len(paths)


def _without_events(trace: _Sequence) -> _Sequence:
    """An empty trace, for a rank whose threads call MPI in an unknown order."""
    none = _Dictionary(trace.dictionary.calls[:0], trace.dictionary.parts[:0])
    return dataclasses.replace(
        trace,
        dictionary=none,
        ids=trace.ids[:0],
        gaps=trace.gaps[:0],
        durations=trace.durations[:0],
        counts=trace.counts[:0],
    )


def packed_traces(folder: Path, manifest: Manifest) -> Iterator[HockneyError]:
    """Pack the traces of a profile that has them, and yield their problems."""
    for launch in manifest.launches:
        if not launch.profiled or manifest.trace is None:
            continue
        try:
            pack_traces(folder / launch.folder, manifest.trace, manifest.functions)
        except (HockneyError, OSError) as error:
            yield EnvironmentProblem(
                f"the traces of {launch.folder} are not packed, but complete",
                str(error),
                code="traces-not-packed",
                folder=launch.folder,
            )
        yield from _early_ends(folder / launch.folder)


_EARLY_END_REASONS = (
    (
        THREADS,
        "several threads of {} call MPI, in an order that is not known: there is no trace of them",
        "trace-of-threads",
    ),
    (
        LIMIT,
        "the traces of {} end early: they have reached their largest size (HOCKNEY_PROFILE_TRACE_LIMIT)",
        "trace-too-large",
    ),
    (NO_SPACE, "the traces of {} end early: they could not be written any more", "trace-not-written"),
    (NOT_KNOWN, "the traces of {} end early: they have too many different calls", "trace-of-unknown-calls"),
)


def _early_ends(folder: Path) -> Iterator[HockneyError]:
    flags = trace_flags(folder)
    if not flags:
        yield EnvironmentProblem(f"{folder.name} has no traces", code="no-traces", folder=folder.name)
    for flag, text, code in _EARLY_END_REASONS:
        ranks = [int(name.split("-")[1]) for name, found in flags.items() if found & flag]
        if ranks:
            yield EnvironmentProblem(text.format(rank_list(ranks)), code=code, folder=folder.name)
