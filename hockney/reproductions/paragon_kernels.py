# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The four kernels of Juurlink (1998) on the Paragon's meshes, and what the paper found: which model is wrong
where.

The paper prints few of its numbers; its findings are checked as they are stated. Local work takes the time of
the description's speed, which is a guess. Keys and elements have 4 bytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from hockney.core.case import Case
from hockney.core.platform import Platform
from hockney.core.units import PERCENT
from hockney.draw.figure import Axis, Figure
from hockney.models.bsp.assumptions import relative_error
from hockney.models.bsp.costs import Base, CostModel, NotMeasured, predict, repaired
from hockney.models.bsp.described import described_rates, operations_per_second
from hockney.models.bsp.measured import machine_costs
from hockney.models.bsp.parameters import LocalRates
from hockney.models.bsp.programs import supersteps
from hockney.reproductions import pages
from hockney.reproductions.compared import Compared, Limit, Status
from hockney.reproductions.paragon_bsp import BSP_MESHES, LIBRARY_S, MESHES, PRINTED, WITH_LIBRARY, part_name
from hockney.reproductions.parts import Answer

KERNELS = {
    "matrix_multiplication": ("matrix multiplication", "multiplication"),
    "bitonic_sort": ("bitonic sort", "sort"),
    "sample_sort": ("sample sort", "sort"),
    "shortest_paths": ("shortest paths", "min-plus"),
}
"""Operation of each workload, and the local work that determines its speed."""
MATRIX_MESHES, MATRICES = ("4x2", "8x8"), (220, 880)
BITONIC_MESHES, BITONIC_KEYS = ("4x2", "4x4", "8x4", "8x8"), (64, 1024, 16384)
SAMPLE_MESH, SAMPLE_KEYS = "8x8", (1024, 4096, 16384, 32768, 65536)
PATHS_MESHES, NODES = ("4x4", "6x6", "8x8", "10x10"), (120, 240)
SHARES = {"bsp/8": ("4x2", "bsp"), "bsp/64": ("8x8", "bsp"), "bpram": ("8x8", "bpram")}
"""Printed shares of communication in a matrix multiplication: mesh and style. The last one is an upper
end."""
MULTIPLICATIONS = 24.5e6
"""Multiplications and additions of a processor in a second, with which communication is the printed 20% of
the time in BSP on 8 processors; other work has the description's speed."""
CROSSOVER = 32 * 1024
"""Keys of a processor up to which routing along a butterfly is faster."""
OVERESTIMATED = 0.1
REPAIRED = 0.15


@dataclass(frozen=True)
class SimulatedKernel:
    """`error` by model: (predicted - simulated) / simulated."""

    case: Case
    mesh: str
    base: Base
    seconds: float
    errors: Mapping[str, float]

    @property
    def route(self) -> str:
        return str(self.case.get("route", "direct"))


def lines(mesh: str, platform: Platform) -> Iterator[str]:
    """The kernels that run on a mesh."""
    p = MESHES[mesh]
    rest = f"sync=window ranks={p}"
    sorting = f"{_rate('sort', platform)} merge_rate={operations_per_second(platform, 'merge'):.6g}"
    if mesh in MATRIX_MESHES:
        for n in MATRICES:
            for style in ("bsp", "bpram"):
                rate = f"rate={MULTIPLICATIONS:.6g}"
                yield f"matrix_multiplication n={n} type=float style={style} {rate} {rest}"
    if mesh in BITONIC_MESHES:
        for keys in BITONIC_KEYS:
            yield f"bitonic_sort keys={keys} type=uint32 style=bsp {sorting} {rest}"
    if mesh == SAMPLE_MESH:
        for keys in SAMPLE_KEYS:
            for way in ("style=bsp", "style=bpram", "style=bpram route=butterfly"):
                yield f"sample_sort keys={keys} type=uint32 {way} {sorting} {rest}"
    if mesh in PATHS_MESHES:
        for n in NODES:
            for style in ("bsp", "bpram") if mesh in BSP_MESHES else ("bpram",):
                yield f"shortest_paths n={n} style={style} {_rate('min-plus', platform)} {rest}"


def _rate(operation: str, platform: Platform) -> str:
    return f"rate={operations_per_second(platform, operation):.6g}"


def rates(platform: Platform) -> LocalRates:
    """Of local work."""
    return described_rates(platform, {"multiplication": MULTIPLICATIONS})


def simulated(answers: Mapping[str, Answer]) -> list[SimulatedKernel]:
    """Every kernel that was simulated, with the errors of the models whose parameters are known."""
    return [kernel for mesh in MESHES for kernel in _on_mesh(mesh, answers[part_name(mesh)])]


def _on_mesh(mesh: str, answer: Answer) -> Iterator[SimulatedKernel]:
    costs = machine_costs(answer.fits, MESHES[mesh], rates(answer.platform))
    for case in answer.part.cases:
        if case.workload not in KERNELS:
            continue
        seconds = answer.seconds(case.workload, **case.values)
        steps = supersteps(KERNELS[case.workload][0], case)
        if seconds is None or steps is None:
            continue
        base: Base = "bsp" if case["style"] == "bsp" else "bpram"
        errors = {}
        for model in (CostModel(base), repaired(base)):
            try:
                errors[model.name] = relative_error(predict(steps, costs, model).total, seconds)
            except NotMeasured:
                continue
        yield SimulatedKernel(case, mesh, base, seconds, errors)


def of(
    kernels: Sequence[SimulatedKernel], workload: str, base: str = "", **fixed: object
) -> list[SimulatedKernel]:
    return [
        k
        for k in kernels
        if k.case.workload == workload
        and base in ("", k.base)
        and all(k.case.get(name) == value for name, value in fixed.items())
    ]


# printed numbers


def compare(answers: Mapping[str, Answer]) -> list[Compared]:
    """Shares of communication, and the number of keys at which the better route changes."""
    kernels = simulated(answers)
    rows = []
    for name, (mesh, style) in SHARES.items():
        row = PRINTED.row(f"paragon/matrix/communication/{name}")
        found = of(kernels, "matrix_multiplication", style, n=max(MATRICES), ranks=MESHES[mesh])
        share = _share(found[0], answers[part_name(mesh)].platform) if found else None
        note = WITH_LIBRARY if style == "bsp" else "the paper: less than"
        status: Status = "fitted" if name == "bsp/8" else "predicted"
        what = f"communication in a matrix multiplication, {style}, {MESHES[mesh]} processors"
        rows.append(Compared(row.key, what, row.si, share, None, PERCENT, status, note=note, table="kernels"))
    rows.append(
        Compared(
            "paragon/sample-sort/crossover", "sample sort: the butterfly is faster up to", float(CROSSOVER),
            crossover(kernels), None, "keys", "predicted", table="kernels",
        )
    )  # fmt: skip
    return rows


def _share(kernel: SimulatedKernel, platform: Platform) -> float | None:
    """Of a run's time; in BSP with the library's work for each word, of which the paper's kernel sends
    whole blocks of A, B and C."""
    steps = supersteps("matrix multiplication", kernel.case) or ()
    speeds = rates(platform)
    work = sum(step.count * speeds.seconds(each) for step in steps for each in step.work)
    library = sum(step.count * step.words for step in steps) * LIBRARY_S if kernel.base == "bsp" else 0.0
    return (kernel.seconds + library - work) / (kernel.seconds + library)


def crossover(kernels: Sequence[SimulatedKernel]) -> float | None:
    """The most keys of a processor, of those simulated, with which the butterfly is faster than direct
    routing."""
    faster = [
        keys
        for keys in SAMPLE_KEYS
        if (direct := of(kernels, "sample_sort", "bpram", keys=keys, route="direct"))
        and (butterfly := of(kernels, "sample_sort", "bpram", keys=keys, route="butterfly"))
        and butterfly[0].seconds < direct[0].seconds
    ]
    return float(max(faster)) if faster else None


# findings


def findings(answers: Mapping[str, Answer]) -> list[Limit]:
    """What the paper states without numbers."""
    kernels = simulated(answers)
    return [
        _growth(kernels),
        _fewer_keys(kernels),
        _butterfly(kernels),
        _overestimated(kernels),
        _repaired(kernels),
    ]


def bitonic_errors(kernels: Sequence[SimulatedKernel], keys: int) -> dict[int, float]:
    """Of BSP, by processors."""
    return {
        k.case.ranks: k.errors["bsp"] for k in of(kernels, "bitonic_sort", keys=keys) if "bsp" in k.errors
    }


def _growth(kernels: Sequence[SimulatedKernel]) -> Limit:
    """The error divided by p / log p may vary by a factor of two, and it is never small."""
    errors = bitonic_errors(kernels, min(BITONIC_KEYS))
    scaled = [error * math.log2(p) / p for p, error in errors.items()]
    complete = len(scaled) == len(BITONIC_MESHES)
    holds = complete and min(errors.values()) > OVERESTIMATED and max(scaled) <= 2 * min(scaled)
    found = ", ".join(f"{error:+.0%} on {p}" for p, error in errors.items()) or "not simulated"
    return Limit("BSP overestimates bitonic sort by an error that grows as p / log p", holds, found)


def _fewer_keys(kernels: Sequence[SimulatedKernel]) -> Limit:
    errors = [bitonic_errors(kernels, keys) for keys in BITONIC_KEYS]
    complete = all(len(each) == len(BITONIC_MESHES) for each in errors)
    holds = complete and all(few[p] > many[p] for few, many in pairwise(errors) for p in few)
    most = max(MESHES[mesh] for mesh in BITONIC_MESHES)
    found = ", ".join(f"{each[most]:+.0%}" for each in errors) if complete else "not simulated"
    return Limit("the error is largest for few keys", holds, f"{found} on {most} processors")


def _butterfly(kernels: Sequence[SimulatedKernel]) -> Limit:
    found = crossover(kernels)
    return Limit(
        "sample sort by butterfly is faster than directly up to about 32K keys of a processor",
        found == CROSSOVER,
        f"up to {found:.0f}" if found is not None else "not found",
    )


def _overestimated(kernels: Sequence[SimulatedKernel]) -> Limit:
    errors = {
        k.case.ranks: k.errors["bpram"]
        for k in of(kernels, "shortest_paths", "bpram", n=max(NODES))
        if "bpram" in k.errors
    }
    least, most = min(errors, default=0), max(errors, default=0)
    holds = len(errors) == len(PATHS_MESHES) and errors[most] > max(OVERESTIMATED, errors[least])
    found = ", ".join(f"{error:+.0%} on {p}" for p, error in errors.items()) or "not simulated"
    return Limit("BPRAM overestimates shortest paths on many processors, more than on few", holds, found)


def _repaired(kernels: Sequence[SimulatedKernel]) -> Limit:
    errors = [abs(e) for k in kernels if (e := k.errors.get(repaired(k.base).name)) is not None]
    holds = bool(errors) and median(errors) <= REPAIRED
    found = f"{median(errors):.1%} in the median of {len(errors)}" if errors else "not simulated"
    return Limit(f"repaired models within {REPAIRED:.0%} in the median", holds, found)


def summary(answers: Mapping[str, Answer]) -> tuple[str, ...]:
    """How many findings hold, and the error of the repaired models."""
    limits = findings(answers)
    errors = [abs(e) for k in simulated(answers) if (e := k.errors.get(repaired(k.base).name)) is not None]
    if not errors:
        return ()
    return (
        f"{sum(limit.holds for limit in limits)} of {len(limits)} findings about BSP and BPRAM hold. The "
        f"models with repaired assumptions predict {len(errors)} runs of four kernels with a median error of "
        f"{median(errors):.1%}.",
    )


# figures


def figures(answers: Mapping[str, Answer]) -> tuple[Figure, ...]:
    """The paper's figures 6 to 9."""
    kernels = simulated(answers)
    return _matrix(kernels), _bitonic(kernels), _sample(kernels), _paths(kernels)


def _matrix(kernels: Sequence[SimulatedKernel]) -> Figure:
    drawn = [
        pages.series(
            f"{style}, {MESHES[mesh]} processors",
            [
                (k.case["n"], 2 * k.case["n"] ** 3 / k.case.ranks / k.seconds / 1e6)
                for k in of(kernels, "matrix_multiplication", style)
                if k.mesh == mesh
            ],
        )
        for mesh in MATRIX_MESHES
        for style in ("bsp", "bpram")
    ]
    return Figure(
        "paragon-matrix",
        "Matrix multiplication",
        Axis("n", "", "linear"),
        Axis("Mflop/s of a processor", "Mflop/s", "linear", include=(0.0,)),
        tuple(drawn),
    )


def _bitonic(kernels: Sequence[SimulatedKernel]) -> Figure:
    drawn = [
        pages.series(f"{keys} keys of a processor", sorted(bitonic_errors(kernels, keys).items()))
        for keys in BITONIC_KEYS
    ]
    return Figure(
        "paragon-bitonic",
        "Bitonic sort: relative error of BSP",
        Axis("processors", "processors", "linear"),
        Axis("(predicted - simulated) / simulated", "", "linear", include=(0.0,)),
        tuple(drawn),
    )


def _sample(kernels: Sequence[SimulatedKernel]) -> Figure:
    ways = {
        "bsp": ("bsp", "direct"),
        "bpram": ("bpram", "direct"),
        "bpram, butterfly": ("bpram", "butterfly"),
    }
    drawn = [
        pages.series(
            name,
            [
                (k.case["keys"], k.seconds / k.case["keys"])
                for k in of(kernels, "sample_sort", base, route=route)
            ],
        )
        for name, (base, route) in ways.items()
    ]
    return Figure(
        "paragon-sample",
        "Sample sort on 64 processors",
        Axis("keys of a processor", "keys"),
        Axis("time for each key of a processor", "s"),
        tuple(drawn),
        marks=((float(CROSSOVER), "32K"),),
    )


def _paths(kernels: Sequence[SimulatedKernel]) -> Figure:
    drawn = []
    for n in NODES:
        found = of(kernels, "shortest_paths", "bpram", n=n)
        drawn.append(pages.series(f"{n} nodes", [(k.case.ranks, k.seconds) for k in found], group=str(n)))
        predicted = [
            (k.case.ranks, k.seconds * (1 + k.errors["bpram"])) for k in found if "bpram" in k.errors
        ]
        drawn.append(pages.series(f"{n} nodes, BPRAM", predicted, "line", str(n)))
    return Figure(
        "paragon-paths",
        "Shortest paths, in blocks",
        Axis("processors", "processors", "linear"),
        Axis("time", "s"),
        tuple(drawn),
    )
