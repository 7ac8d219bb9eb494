# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The contents of a run's `records.jsonl`: one JSON object per line, of one of four kinds.

`launch` describes where and how the records that refer to it were measured; `record` is one case's result
with every repetition's time; `failure` is a case without a result, and why; `close` ends a launch. The engine
writes launches, records and the failures it survives; hockney.measurement writes the rest. The schema in
`contract/records.schema.json` is generated from these classes.

Times are in seconds, sizes in bytes.
"""

from __future__ import annotations

import inspect
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from hockney.core.case import Case, parse_canonical
from hockney.core.layout import Level

if TYPE_CHECKING:
    from hockney.core.machine import Machine

Origin = Literal["measured", "emulated", "simulated", "published", "imported", "fake"]
"""How a number was obtained. Kinds of machines are open (`measurement/kinds`), but this list is closed, since
pages and models treat each origin differently."""


SCHEMA = 2
"""Schema of all files."""

ROUNDING = "rounding"
"""Metric of imported numbers: the largest error of their time due to its digits, in seconds."""


class Rank(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where one rank ran. `cpus` is its affinity mask as a list, for example "0" or "0-3,8". Ranks with the
    same `node` share memory; by default it is the host. Ranks of one node with the same `core`, `cache` or
    `socket` share it; the numbers are those of the node's operating system, -1 if unknown or if the rank may
    use several."""

    host: str
    pid: int
    cpus: str
    node: str = ""
    core: int = -1
    cache: int = -1
    socket: int = -1

    def __post_init__(self) -> None:
        if not self.node:
            msgspec.structs.force_setattr(self, "node", self.host)


class Clock(msgspec.Struct, frozen=True, kw_only=True):
    """MPI_Wtime as measured at start-up: cost of one call, smallest step seen, and the clock's name."""

    overhead_s: float
    resolution_s: float


class Launch(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="launch"):
    """One mpiexec. `command` is its command line; `library` is the first line of MPI_Get_library_version;
    `binding` describes where the ranks run, `bound` whether each is bound to cores (null if unknown).
    `setting` is the launch setting of all its cases, whose `variables` were set ("" and none if there is
    none). `waits` is asleep if ranks that waited for a moment or computed for a preset time did so asleep,
    since the processors were shared by emulated hosts."""

    schema: int
    launch: str
    index: int
    origin: Origin
    started_s: float
    ranks: list[Rank]
    mpi_standard: str
    library: str
    engine: str
    compiler: str
    clock: Clock
    command: list[str] = []
    binding: str = ""
    bound: bool | None = None
    init_s: float = 0.0
    setting: str = ""
    variables: dict[str, str] = {}
    waits: Literal["busy", "asleep"] = "busy"

    @property
    def hosts(self) -> frozenset[str]:
        return frozenset(rank.host for rank in self.ranks)

    @property
    def nodes(self) -> frozenset[str]:
        return frozenset(rank.node for rank in self.ranks)


SyncKind = Literal["none", "barrier", "window", "loop"]


class Sync(msgspec.Struct, frozen=True, kw_only=True):
    """How the start of repetitions was synchronised.

    `kind` none: the pattern synchronises its ranks itself (ping-pong); barrier: MPI_Barrier before each
    repetition; window: all ranks start at one moment of a synchronised global clock; loop: MPI_Barrier, then
    a batch of operations back to back, which may overlap. If times depend on that clock (windows, and times
    from one rank's entry or exit to another's), `error_s` is the residual of its model (largest over the
    ranks, re-measured after the case); for windows, `late` counts repetitions dropped because some rank was
    not ready in time.
    """

    kind: SyncKind
    error_s: float | None = None
    late: int = 0


class Stop(msgspec.Struct, frozen=True, kw_only=True):
    """Why repetition ended. `achieved` is the relative half width of the 95% interval of the median, None if
    there are too few repetitions for an interval."""

    reason: Literal["precision", "budget", "repetitions"]
    precision: float
    achieved: float | None


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """Payload checks outside the timed region, summed over the ranks: `bytes` compared, and `errors`, the
    number of messages or blocks that differ. `first` describes one (rank, what, offset); empty if there is
    none. `runs` were verified of the `of_runs` that followed the warm-up, both summed over the ranks as well.
    This took `seconds` in total, on the rank where it took longest. 0 in older records."""

    bytes: int
    errors: int
    first: str = ""
    runs: int = 0
    of_runs: int = 0
    seconds: float = 0.0


class Visits(msgspec.Struct, frozen=True, kw_only=True):
    """When a case was measured within its launch. For each visit: its start `after_s` in seconds after the
    record's `started_s`, its number of `repetitions` (they are consecutive in `times_s`), and how often a
    rank was preempted during it (`preempted`)."""

    after_s: list[float] = []
    repetitions: list[int] = []
    preempted: list[int] = []


OverRanks = Literal["max", "min", "mean", "sum", "root", "each", "slowest"]
Per = Literal["record", "repetition", "superstep", "event"]


class MetricSeries(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A workload's values of one metric; the catalog describes the metric.

    `values` has one number if the metric is per record and combined over the ranks, one for each entry of
    `times_s` if it is per repetition, one for each superstep of an operation, in order, if it is per
    superstep. If `over_ranks` is each, ranks vary fastest; slowest is the rank whose phases of the repetition
    add up to the most. A metric per event has any number of values for each repetition and rank, in this
    order; `counts` contains their numbers. A `phase` is a part of the operation's time, in seconds per
    operation.
    """

    unit: str
    over_ranks: OverRanks
    per: Per
    phase: bool
    values: list[float]
    counts: list[int] = []


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind", tag="record"):
    """One case, measured in one launch, in one visit or in many at different moments.

    `times_s` has one entry for each repetition: the time of one operation as the workload defines it (one way
    for a ping-pong, the longest over the ranks for a collective), already divided by `batch`, the operations
    between two readings of the clock (2 for a ping-pong, more if the clock requires it). `warmup_s` are the
    repetitions before the times settled, `bytes_moved` the payload that one operation moves by the convention
    of the workload's bandwidth, `visits` when the repetitions were made (empty: in one visit), `position`
    that in the launch's shuffled order. `metrics` are the workload's other metrics, by name, and `labels`
    texts that belong to them.
    `place` is where the ranks of each pair met (a level of `core/layout.py`), for two ranks and for cases
    with `place=`, otherwise "". `nodes` is how many nodes took part, 0 if unknown, `members` the launch's
    ranks that did, in the order of the case; empty: all.
    """

    schema: int
    launch: str
    origin: Origin
    position: int
    case: str
    started_s: float
    times_s: list[float]
    batch: int
    warmup_s: list[float]
    bytes_moved: int
    sync: Sync
    stop: Stop
    verified: Verified
    visits: Visits = Visits()
    metrics: dict[str, MetricSeries] = {}
    labels: dict[str, str] = {}
    place: Level | Literal[""] = ""
    nodes: int = 0
    members: list[int] = []

    @property
    def times_by_visit(self) -> list[list[float]]:
        """`times_s` of each visit with repetitions, in order."""
        parts, first = [], 0
        for count in self.visits.repetitions or [len(self.times_s)]:
            parts.append(self.times_s[first : first + count])
            first += count
        return [times for times in parts if times]

    @property
    def visit_starts_s(self) -> list[float]:
        """Start of each visit in `times_by_visit`, in seconds since 1970, or of the simulated clock."""
        starts_s = [
            start_s
            for start_s, count in zip(self.visits.after_s, self.visits.repetitions, strict=True)
            if count
        ]
        return [self.started_s + start_s for start_s in starts_s or [0.0]]

    @property
    def visit_count(self) -> int:
        """Number of visits with at least one repetition: the length of `times_by_visit`."""
        counts = self.visits.repetitions or [len(self.times_s)]
        return len(counts) - counts.count(0)

    @property
    def simulated(self) -> bool:
        return self.origin == "simulated"

    @property
    def is_fake(self) -> bool:
        """Whether the times are made up, for tests."""
        return self.origin == "fake"

    def parse_case(self) -> Case:
        return parse_canonical(self.case)

    def metric(self, name: str) -> float | None:
        """Return the value of a metric with a single value for the whole record; None if there is no such
        metric."""
        series = self.metrics.get(name)
        is_single = series is not None and series.per == "record" and len(series.values) == 1
        return series.values[0] if series is not None and is_single else None


class Failure(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="failure"):
    """A case without a result. `silent_ranks` did not report to the watchdog."""

    schema: int
    launch: str
    case: str
    reason: Literal["hung", "slow", "died", "refused", "memory", "corrupted"]
    message: str
    silent_ranks: list[int] = []


class Close(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="close"):
    """The end of a launch, written by hockney.measurement: how it ended and the machine's other activity.

    `outside_cores` is the CPU time used by processes other than the launch's, in cores; `steal` the fraction
    of CPU time taken by the hypervisor; both None if unknown. `seconds` is 0 for a simulated launch. `reason`
    is why a launch ended before its plan, empty if it did not or if an older hockney wrote it; corrupted: a
    message between ranks arrived corrupted.
    """

    schema: int
    launch: str
    seconds: float
    exit_code: int
    outside_cores: float | None = None
    steal: float | None = None
    reason: Literal["", "hung", "slow", "died", "refused", "time", "corrupted"] = ""


class Start(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="start"):
    """The engine is about to run a case. Only on the engine's stdout, never stored."""

    case: str
    position: int


class FirstVisitsComplete(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="visiting"):
    """Every case has had its first visit. The other visits follow, then the records. Only on the engine's
    stdout, never stored."""


class End(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="end"):
    """The engine has finished its plan. Only on the engine's stdout, never stored."""

    cases: int


Line = Launch | Record | Failure | Close
EngineLine = Launch | Record | Failure | Start | FirstVisitsComplete | End
EngineLines = Generator[EngineLine, None, None]

decode_engine_line = msgspec.json.Decoder(EngineLine).decode
encode_line = msgspec.json.Encoder().encode

_decode = msgspec.json.Decoder(Line).decode


def decode_line(raw: bytes) -> Line:
    """Decode a stored line. Raises msgspec.ValidationError for a line of an earlier schema."""
    line = _decode(raw)
    if line.schema < SCHEMA:
        raise msgspec.ValidationError(f"schema {line.schema} was never released")
    return line


@dataclass(frozen=True)
class RunRecords:
    """Contents of `records.jsonl`, in the order written."""

    launches: tuple[Launch, ...] = ()
    records: tuple[Record, ...] = ()
    failures: tuple[Failure, ...] = ()
    closes: tuple[Close, ...] = ()

    @staticmethod
    def of(lines: Iterable[Line]) -> RunRecords:
        kinds: dict[type, list[Any]] = {Launch: [], Record: [], Failure: [], Close: []}
        for line in lines:
            kinds[type(line)].append(line)
        return RunRecords(*(tuple(kinds[kind]) for kind in (Launch, Record, Failure, Close)))

    @property
    def corrupted_records(self) -> list[Record]:
        """Records whose payload arrived corrupted."""
        return [record for record in self.records if record.verified.errors]

    @property
    def corrupted_launches(self) -> int:
        """Number of launches in which one of hockney's own messages arrived corrupted."""
        return sum(close.reason == "corrupted" for close in self.closes)

    @property
    def hosts(self) -> frozenset[str]:
        """All hosts on which a rank of any launch ran."""
        return frozenset().union(*(launch.hosts for launch in self.launches))

    @property
    def nodes(self) -> frozenset[str]:
        """All nodes on which a rank of any launch ran."""
        return frozenset().union(*(launch.nodes for launch in self.launches))

    def max_hosts(self, ranks: int | None = None) -> int:
        """Return the largest number of hosts of one launch, or of one launch of `ranks` ranks; at least 1.
        Launches on different hosts do not add up, as a case uses only the hosts of its launch."""
        launches = [launch for launch in self.launches if ranks is None or len(launch.ranks) == ranks]
        return max((1, *(len(launch.hosts) for launch in launches)))

    def cores(self, machine: Machine) -> int:
        """Return the cores available to a launch of this run, assuming identical hosts. More ranks would
        measure the scheduler. The cores of a described machine already include all its nodes."""
        return max(1, machine.cores) * (1 if machine.traits.described else self.max_hosts())

    def by_case(self) -> dict[str, list[Record]]:
        """Return the records by case line, one record per launch, in the order written."""
        groups: dict[str, list[Record]] = {}
        for record in self.records:
            groups.setdefault(record.case, []).append(record)
        return groups


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of one line of `records.jsonl`."""
    schema = msgspec.json.schema(Line)
    for definition in schema["$defs"].values():  # msgspec before 0.23 keeps the indentation of docstrings
        if "description" in definition:
            definition["description"] = inspect.cleandoc(definition["description"])
    return schema
