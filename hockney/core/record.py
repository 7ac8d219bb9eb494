# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What a run's `records.jsonl` holds: one JSON object a line, each of one of four kinds.

`launch` says where and how the records that name it were measured; `record` is one case's result
with every repetition's time; `failure` is a case that gave no result, and why; `close` ends a launch.
The engine writes launches, records and the failures it survives; the lab writes the rest. The schema in
`contract/records.schema.json` is made from these classes.

Seconds and bytes everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from hockney.core.case import Case, parse_canonical
from hockney.core.migration import SCHEMA, upgraded_line

if TYPE_CHECKING:
    from hockney.core.machine import Machine

Origin = Literal["measured", "emulated", "simulated", "published", "fake"]
"""How a number came about. Kinds of machines are open (`lab/kinds`); these are not, since pages and models
treat each of them differently."""


class Rank(msgspec.Struct, frozen=True, kw_only=True):
    """Where one rank ran. `cpus` is its affinity mask as a list, for example "0" or "0-3,8". Ranks with
    the same `node` share memory; it is the host where none is given."""

    host: str
    pid: int
    cpus: str
    node: str = ""

    def __post_init__(self) -> None:
        if not self.node:
            msgspec.structs.force_setattr(self, "node", self.host)


class Clock(msgspec.Struct, frozen=True, kw_only=True):
    """MPI_Wtime as measured at start-up: cost of one call, smallest step seen, and the clock's name."""

    overhead_s: float
    resolution_s: float


class Launch(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="launch"):
    """One mpiexec. `command` is its words; `library` is MPI_Get_library_version's first line; `binding` says
    where the ranks run, `bound` whether each is bound to cores (null where that is not known)."""

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

    @property
    def hosts(self) -> frozenset[str]:
        return frozenset(rank.host for rank in self.ranks)

    @property
    def nodes(self) -> frozenset[str]:
        return frozenset(rank.node for rank in self.ranks)


class Sync(msgspec.Struct, frozen=True, kw_only=True):
    """How repetitions were started together.

    `kind` none: the pattern keeps its ranks in step by itself (ping-pong); barrier: MPI_Barrier before
    each repetition; window: all ranks start at one moment of a synchronised global clock; loop: MPI_Barrier,
    then a batch of operations back to back, which may overlap. Where times depend on that clock (windows,
    and times from one rank's entry or exit to another's), `error_s` is the residual of its model (largest
    over the ranks, re-measured after the case); of windows, `late` counts repetitions dropped because some
    rank was not ready in time.
    """

    kind: Literal["none", "barrier", "window", "loop"]
    error_s: float | None = None
    late: int = 0


class Stop(msgspec.Struct, frozen=True, kw_only=True):
    """Why repetition ended. `achieved` is the half width of the 95% interval of the median over the
    median, None with too few repetitions for an interval."""

    reason: Literal["precision", "budget", "repetitions"]
    precision: float
    achieved: float | None


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """Payload checks outside the timed region, summed over the ranks: `bytes` compared, and `errors`, the
    messages or blocks that differ. `first` describes one (rank, what, offset); empty when there is none.
    `runs` were verified of the `of_runs` that followed the warm-up, both summed over the ranks as well. This
    took `seconds` in all, on the rank where it took longest. 0 in older records."""

    bytes: int
    errors: int
    first: str = ""
    runs: int = 0
    of_runs: int = 0
    seconds: float = 0.0


class Visits(msgspec.Struct, frozen=True, kw_only=True):
    """When a case was measured within its launch. Entry by entry: how many seconds `after_s` the record's
    `started_s` a visit began, how many `repetitions` it has (they follow one another in `times_s`), and how
    often the system took a rank's core away during them (`preempted`)."""

    after_s: list[float] = []
    repetitions: list[int] = []
    preempted: list[int] = []


OverRanks = Literal["max", "min", "mean", "sum", "root", "each"]
Per = Literal["record", "repetition"]


class MetricSeries(msgspec.Struct, frozen=True, kw_only=True):
    """What a workload reported of one metric; the catalog says what the metric means.

    `values` holds one number where the metric is per record and combined over the ranks, one for each entry
    of `times_s` where it is per repetition. Where `over_ranks` is each, ranks vary fastest. A `phase` is
    a part of the operation's time, in seconds per operation.
    """

    unit: str
    over_ranks: OverRanks
    per: Per
    phase: bool
    values: list[float]


class Record(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="record"):
    """One case, measured in one launch, in one visit or in many at different moments.

    `times_s` has one entry for each repetition: the time of one operation as the workload defines it
    (one way for a ping-pong, the longest over the ranks for a collective), already divided by `batch`,
    the operations between two readings of the clock (2 for a ping-pong, more where the clock needs it).
    `warmup_s` are the repetitions before the times settled, `bytes_moved` the payload one operation moves in
    the sense in which the workload's bandwidth is quoted, `visits` when the repetitions were made (none
    listed: in one visit), `position` the place in the launch's shuffled
    order. `metrics` are what else the workload reports, by name, and `labels` words that belong to them.
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

    @property
    def times_by_visit(self) -> list[list[float]]:
        """`times_s` of each visit, in order; those without a repetition are left out."""
        parts, first = [], 0
        for count in self.visits.repetitions or [len(self.times_s)]:
            parts.append(self.times_s[first : first + count])
            first += count
        return [part for part in parts if part]

    @property
    def visits_made(self) -> int:
        """Visits with at least one repetition: the length of `times_by_visit`."""
        counts = self.visits.repetitions or [len(self.times_s)]
        return sum(1 for count in counts if count)

    @property
    def simulated(self) -> bool:
        return self.origin == "simulated"

    @property
    def invented(self) -> bool:
        """Whether the times are made up, for tests."""
        return self.origin == "fake"

    def parsed_case(self) -> Case:
        return parse_canonical(self.case)

    def metric(self, name: str) -> float | None:
        """The value of a metric that has one for the whole record; None where there is no such metric."""
        series = self.metrics.get(name)
        single = series is not None and series.per == "record" and len(series.values) == 1
        return series.values[0] if series is not None and single else None


class Failure(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="failure"):
    """A case that gave no result. `silent_ranks` did not answer the watchdog."""

    schema: int
    launch: str
    case: str
    reason: Literal["hung", "died", "refused", "memory", "corrupted"]
    message: str
    silent_ranks: list[int] = []


class Close(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="close"):
    """The end of a launch, written by the lab: how it ended and what else the machine did meanwhile.

    `outside_cores` is the CPU time that processes other than the launch's used, in cores; `steal` the
    fraction of CPU time the hypervisor took away; both None where the system does not tell. `seconds` is 0
    for a simulated launch. `reason` is why a launch ended before its plan, empty where it did not or an older
    hockney wrote it; corrupted: a message between ranks arrived changed.
    """

    schema: int
    launch: str
    seconds: float
    exit_code: int
    outside_cores: float | None = None
    steal: float | None = None
    reason: Literal["", "hung", "died", "refused", "time", "corrupted"] = ""


class Start(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="start"):
    """The engine is about to run a case. Only on the engine's stdout, never stored."""

    case: str
    position: int


class Visiting(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="visiting"):
    """Every case has had its first visit; the others follow, and the records come after them. Only on the
    engine's stdout, never stored."""


class End(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="end"):
    """The engine has finished its plan. Only on the engine's stdout, never stored."""

    cases: int


Line = Launch | Record | Failure | Close
EngineLine = Launch | Record | Failure | Start | Visiting | End

decode_engine_line = msgspec.json.Decoder(EngineLine).decode
encode_line = msgspec.json.Encoder().encode

_decode_present = msgspec.json.Decoder(Line).decode


class _Envelope(msgspec.Struct, frozen=True):
    schema: int = SCHEMA


_decode_envelope = msgspec.json.Decoder(_Envelope).decode


def decode_line(raw: bytes) -> Line:
    """A stored line, also of an earlier schema."""
    if _decode_envelope(raw).schema >= SCHEMA:
        return _decode_present(raw)
    return msgspec.convert(upgraded_line(msgspec.json.decode(raw)), Line)


@dataclass(frozen=True)
class RunRecords:
    """All that `records.jsonl` says, in the order written."""

    launches: tuple[Launch, ...] = ()
    records: tuple[Record, ...] = ()
    failures: tuple[Failure, ...] = ()
    closes: tuple[Close, ...] = ()

    @staticmethod
    def of(lines: Iterable[Line]) -> RunRecords:
        kinds: dict[type, list[Any]] = {Launch: [], Record: [], Failure: [], Close: []}
        for line in lines:
            kinds[type(line)].append(line)
        return RunRecords(*(tuple(kinds[k]) for k in (Launch, Record, Failure, Close)))

    @property
    def wrong(self) -> list[Record]:
        """Those whose payload arrived wrong."""
        return [record for record in self.records if record.verified.errors]

    @property
    def corrupted(self) -> int:
        """Launches in which a message of hockney's own arrived wrong."""
        return sum(close.reason == "corrupted" for close in self.closes)

    @property
    def hosts(self) -> frozenset[str]:
        """Every host that a rank of any launch was on."""
        return frozenset().union(*(launch.hosts for launch in self.launches))

    @property
    def nodes(self) -> frozenset[str]:
        """Every node that a rank of any launch was on."""
        return frozenset().union(*(launch.nodes for launch in self.launches))

    def most_hosts(self, ranks: int | None = None) -> int:
        """The largest number of hosts of one launch, or of one launch of `ranks` ranks; at least 1. Two
        launches on different hosts do not add up: a case has the hosts of its own launch only."""
        launches = [x for x in self.launches if ranks is None or len(x.ranks) == ranks]
        return max((1, *(len(launch.hosts) for launch in launches)))

    def cores(self, machine: Machine) -> int:
        """The cores that a launch of this run could use, taking the hosts to be alike: with more ranks the
        scheduler is measured. The cores of a described machine are those of all its nodes already."""
        return max(1, machine.cores) * (1 if machine.traits.described else self.most_hosts())

    def by_case(self) -> dict[str, list[Record]]:
        """Records grouped by case line, one record a launch, in the order written."""
        groups: dict[str, list[Record]] = {}
        for record in self.records:
            groups.setdefault(record.case, []).append(record)
        return groups


def json_schema() -> dict[str, Any]:
    """The JSON Schema of one line of `records.jsonl`."""
    return msgspec.json.schema(Line)
