# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The four kernels of Juurlink (1998) on the Paragon's meshes, figures 6 to 9: which model is wrong where.

Programs in BSP put words, those in BPRAM send blocks, as in the paper. Keys and elements have 4 bytes. The
paper prints few of its numbers; its statements are checked. Local work takes the time of the description's
speed, which is a guess.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from hockney.core.case import Case
from hockney.core.platform import Platform
from hockney.core.record import Record
from hockney.core.units import PERCENT
from hockney.draw.figure import Axis, Figure
from hockney.reproductions import pages
from hockney.reproductions.compared import CLOSE, NOT_SIMULATED, Check, ComparedNumber, Statement, Status
from hockney.reproductions.parts import Answer
from hockney.suites.bsp.models.costs import Base, CostModel, predict, relative_error, repaired
from hockney.suites.bsp.models.parameters import (
    BulkCosts,
    LocalRates,
    NotMeasured,
    described_rates,
    machine_costs,
    operations_per_second,
)
from hockney.suites.bsp.models.programs import WORD, supersteps
from hockney.suites.bsp.reproductions.paragon_bsp import BSP_MESHES, MESHES, PRINTED, part_name

KERNELS = {
    "matrix_multiplication": ("matrix multiplication", "multiplication"),
    "bitonic_sort": ("bitonic sort", "sort"),
    "sample_sort": ("sample sort", "sort"),
    "shortest_paths": ("shortest paths", "min-plus"),
}
"""Operation of each workload, and the local work that determines its speed."""
BSP_STYLE, BUTTERFLY_STYLE = f"style=bsp packet={WORD}", "style=bpram route=butterfly"
MATRIX_MESHES, MATRICES = ("4x2", "8x8"), (220, 440, 660, 880)
BITONIC_MESHES, BITONIC_KEYS = ("4x2", "4x4", "8x4", "8x8"), (64, 512, 4096)
SAMPLE_MESH, SAMPLE_KEYS = "8x8", (256, 1024, 4096, 8192, 16384, 32768, 65536, 131072, 262144)
MAX_BSP_KEYS = 8192
"""Keys of a processor that are simulated as words: 4032 long messages that share the mesh take minutes."""
PATHS_MESHES, NODES = ("4x4", "6x6", "8x8", "10x10"), (120, 240, 480)
SHARES = {"bsp/8": ("4x2", "bsp"), "bsp/64": ("8x8", "bsp"), "bpram": ("8x8", "bpram")}
"""Printed shares of communication in a matrix multiplication: mesh and style. The last one is an upper
end."""
BSP_SHARE_KEY = "paragon/matrix/communication/bsp/"
MULTIPLICATIONS = 22.3e6
"""Multiplications and additions of a processor in a second, with which communication is the printed 20% of
the time in BSP on 8 processors; other work has the description's speed."""
CROSSOVER = PRINTED.row("paragon/sample-sort/crossover")
"""Keys of a processor up to which routing along a butterfly is faster."""
COMPARABLE_SPEED = 0.9
"""Two speeds are comparable if the slower is more than this share of the faster."""
GOOD_ERROR = 0.15
"""A prediction is good if its error is at most this."""
OVERESTIMATE = 0.1
REPAIRED_ERROR = 0.15
FEW_PROCESSORS, MANY_PROCESSORS = 16, 100
"""Processors of shortest paths on which BPRAM predicts well, and on which it overestimates."""
SLOW_COPIES = "slow-copies"
"""The part, and the variant of the machine, with which sample sort changes its route at the printed keys."""
COPIES = "copies in memory at 9 MB/s"


@dataclass(frozen=True)
class SimulatedKernel:
    """`errors` by model: (predicted - simulated) / simulated. `communication` includes waiting for others;
    `work` is the local work of the busiest processor in each superstep, by the model."""

    case: Case
    mesh: str
    base: Base
    seconds: float
    communication: float
    work: float
    errors: Mapping[str, float]

    @property
    def route(self) -> str:
        return str(self.case.get("route", "direct"))


def lines(mesh: str, platform: Platform) -> Iterator[str]:
    """The kernels that run on a mesh."""
    p = MESHES[mesh]
    rest = f"sync=window ranks={p}"
    if mesh in MATRIX_MESHES:
        for n in MATRICES:
            for style in (BSP_STYLE, "style=bpram"):
                yield f"matrix_multiplication n={n} type=float {style} rate={MULTIPLICATIONS:.6g} {rest}"
    if mesh in BITONIC_MESHES:
        for keys in BITONIC_KEYS:
            yield f"bitonic_sort keys={keys} type=uint32 {BSP_STYLE} {_sorting_words(platform)} {rest}"
    if mesh == SAMPLE_MESH:
        yield from sample_lines(platform, (BSP_STYLE, "style=bpram", BUTTERFLY_STYLE))
    if mesh in PATHS_MESHES:
        speeds = f"{_rate_words('min-plus', platform)} {_copying_words(platform)}"
        for n in NODES:
            for style in (BSP_STYLE, "style=bpram") if mesh in BSP_MESHES else ("style=bpram",):
                yield f"shortest_paths n={n} {style} {speeds} {rest}"


def sample_lines(platform: Platform, ways: Sequence[str]) -> Iterator[str]:
    speeds = f"{_sorting_words(platform)} {_copying_words(platform)}"
    for keys in SAMPLE_KEYS:
        for style in ways:
            if style != BSP_STYLE or keys <= MAX_BSP_KEYS:
                yield (
                    f"sample_sort keys={keys} type=uint32 {style} {speeds} sync=window "
                    f"ranks={MESHES[SAMPLE_MESH]}"
                )


def _sorting_words(platform: Platform) -> str:
    return f"{_rate_words('sort', platform)} merge_rate={operations_per_second(platform, 'merge'):.6g}"


def _copying_words(platform: Platform) -> str:
    return f"copy_rate={operations_per_second(platform, 'copy'):.6g}"


def _rate_words(operation: str, platform: Platform) -> str:
    return f"rate={operations_per_second(platform, operation):.6g}"


def rates(platform: Platform) -> LocalRates:
    """The described rates of local work."""
    return described_rates(platform, {"multiplication": MULTIPLICATIONS})


def simulated_kernels(answers: Mapping[str, Answer]) -> list[SimulatedKernel]:
    """Every kernel that was simulated, with the errors of the models whose parameters are known."""
    return [kernel for mesh in MESHES for kernel in _kernels_on_mesh(mesh, answers[part_name(mesh)])]


def _kernels_on_mesh(mesh: str, answer: Answer) -> Iterator[SimulatedKernel]:
    costs = machine_costs(answer.fits, MESHES[mesh], rates(answer.platform))
    if costs.bpram is not None and costs.bpram.startup_alone is not None:
        # A message alone is known from the ping-pong, which does not use the library.
        startup_alone_s = costs.bpram.startup_alone + answer.platform.libraries.step_s
        costs = replace(
            costs, bpram=replace(costs.bpram, startup_alone=min(startup_alone_s, costs.bpram.startup))
        )
    return kernels_of(mesh, answer, costs)


def kernels_of(mesh: str, answer: Answer, costs: BulkCosts | None = None) -> Iterator[SimulatedKernel]:
    """The kernels of a part, with the errors of models if the machine's `costs` are given."""
    for case in answer.part.cases:
        if case.workload not in KERNELS:
            continue
        records = answer.records(case.workload, **case.values)
        seconds = answer.seconds(case.workload, **case.values)
        steps = supersteps(KERNELS[case.workload][0], case)
        if seconds is None or steps is None:
            continue
        base: Base = "bsp" if case["style"] == "bsp" else "bpram"
        errors, work = {}, 0.0
        for model in (CostModel(base), repaired(base)):
            try:
                if costs is not None:
                    terms = predict(steps, costs, model)
                    work, errors[model.name] = terms.work, relative_error(terms.total, seconds)
            except NotMeasured:
                continue
        yield SimulatedKernel(case, mesh, base, seconds, _communication_seconds(records), work, errors)


def _communication_seconds(records: Sequence[Record]) -> float:
    """Seconds of one repetition; 0 if the kernel did not report them."""
    seconds = [value for r in records if (m := r.metrics.get("communication")) for value in m.values]
    return median(seconds) if seconds else 0.0


def kernels_like(
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


def compare(answers: Mapping[str, Answer]) -> list[ComparedNumber]:
    """Shares of communication, and the number of keys at which the better route changes."""
    kernels = simulated_kernels(answers)
    rows = []
    for name, (mesh, style) in SHARES.items():
        row = PRINTED.row(f"paragon/matrix/communication/{name}")
        kernels_found = kernels_like(
            kernels, "matrix_multiplication", style, n=max(MATRICES), ranks=MESHES[mesh]
        )
        share = kernels_found[0].communication / kernels_found[0].seconds if kernels_found else None
        is_upper_bound = style == "bpram"
        status: Status = "fitted" if name == "bsp/8" else "predicted"
        label = f"communication in a matrix multiplication, {style}, {MESHES[mesh]} processors"
        rows.append(
            ComparedNumber(
                row.key, label, row.si, share, None, PERCENT, status, table="kernels",
                note="the paper: less than" if is_upper_bound else "", bound=is_upper_bound,
            )
        )  # fmt: skip
    slow_copies_kernels = list(kernels_of(SAMPLE_MESH, answers[SLOW_COPIES]))
    for kernels_found, mechanism in ((kernels, ""), (slow_copies_kernels, COPIES)):
        status = "fitted" if mechanism else "predicted"
        rows.append(
            ComparedNumber(
                CROSSOVER.key, "sample sort: the butterfly is faster up to", CROSSOVER.si,
                crossover(kernels_found), None, "keys", status, mechanism, table="kernels",
            )
        )  # fmt: skip
    return rows


def crossover(kernels: Sequence[SimulatedKernel]) -> float | None:
    """The most keys of a processor, of those simulated, with which the butterfly is faster than direct
    routing."""
    by_keys = {style: _seconds_by_keys(kernels, style) for style in ("bpram", "butterfly")}
    faster = [
        keys
        for keys, seconds in by_keys["butterfly"].items()
        if keys in by_keys["bpram"] and seconds < by_keys["bpram"][keys]
    ]
    return float(max(faster)) if faster else None


def _seconds_by_keys(kernels: Sequence[SimulatedKernel], style: str) -> dict[int, float]:
    """Seconds of sample sort by keys of a processor: in BSP, in BPRAM directly, or by butterfly."""
    base, route = ("bpram", style) if style == "butterfly" else (style, "direct")
    return {
        int(k.case.number("keys")): k.seconds for k in kernels_like(kernels, "sample_sort", base, route=route)
    }


# what the paper states


def checks(answers: Mapping[str, Answer], compared: Sequence[ComparedNumber]) -> list[Check]:
    kernels = simulated_kernels(answers)
    return [
        _bsp_speed_check(kernels),
        _bsp_communication_check(compared),
        _bpram_communication_check(kernels),
        _error_growth_check(kernels),
        _few_keys_check(kernels),
        _direct_routing_check(kernels),
        _crossover_check(kernels),
        _butterfly_check(kernels),
        _few_processors_check(kernels),
        _many_processors_check(kernels),
        _repaired_models_check(kernels),
    ]


def speed(kernel: SimulatedKernel) -> float:
    """Mflop/s of a processor in a matrix multiplication."""
    return 2 * kernel.case.number("n") ** 3 / kernel.case.ranks / kernel.seconds / 1e6


def _bsp_speed_check(kernels: Sequence[SimulatedKernel]) -> Check:
    statement = Statement(
        "bsp-below-bpram", "figure 6", "BSP never achieves a performance comparable to BPRAM"
    )
    shares = {
        (mesh, n): speed(bsp[0]) / speed(bpram[0])
        for mesh in MATRIX_MESHES
        for n in MATRICES
        if (bsp := kernels_like(kernels, "matrix_multiplication", "bsp", n=n, ranks=MESHES[mesh]))
        and (bpram := kernels_like(kernels, "matrix_multiplication", "bpram", n=n, ranks=MESHES[mesh]))
    }
    if len(shares) < len(MATRIX_MESHES) * len(MATRICES):
        return statement.unknown()
    largest = max(shares, key=lambda each: shares[each])
    finding = f"at most {shares[largest]:.0%} of its speed, on {largest[0]} with n = {largest[1]}"
    return statement.check(shares[largest] < COMPARABLE_SPEED, finding)


def _bsp_communication_check(compared: Sequence[ComparedNumber]) -> Check:
    """The check of communication's share in BSP, of which the share on 8 processors was fitted."""
    fitted, predicted = (row for row in compared if row.key.startswith(BSP_SHARE_KEY))
    claim = (
        f"in BSP, communication is {fitted.published:.0%} of a multiplication with n = {max(MATRICES)} on 8 "
        f"processors and {predicted.published:.0%} on 64, within {CLOSE[-1]:.0%}"
    )
    return Statement("bsp-communication", "text on figure 6", claim).within((fitted, predicted), CLOSE[-1])


def _bpram_communication_check(kernels: Sequence[SimulatedKernel]) -> Check:
    limit = PRINTED.row("paragon/matrix/communication/bpram").si
    n = max(MATRICES)
    claim = f"in BPRAM, communication is less than {limit:.1%} of a matrix multiplication with n = {n}"
    statement = Statement("bpram-communication", "text on figure 6", claim)
    shares = [
        k.communication / k.seconds for k in kernels_like(kernels, "matrix_multiplication", "bpram", n=n)
    ]
    if len(shares) < len(MATRIX_MESHES):
        return statement.unknown()
    return statement.check(max(shares) < limit, f"{max(shares):.1%}")


def bitonic_errors(kernels: Sequence[SimulatedKernel], keys: int) -> dict[int, float]:
    """The errors of BSP for bitonic sort, by number of processors."""
    return {
        k.case.ranks: k.errors["bsp"]
        for k in kernels_like(kernels, "bitonic_sort", keys=keys)
        if "bsp" in k.errors
    }


def _error_growth_check(kernels: Sequence[SimulatedKernel]) -> Check:
    """The check that BSP's error grows as p / log p. With the paper's own L, part of which does not depend on
    p, the error grows faster."""
    claim = "BSP overestimates bitonic sort by an error that grows as p / log p, within a factor of 2"
    statement = Statement("bitonic-error-grows", "figure 7", claim)
    errors = bitonic_errors(kernels, min(BITONIC_KEYS))
    errors_over_growth = [error * math.log2(p) / p for p, error in errors.items()]
    if len(errors_over_growth) < len(BITONIC_MESHES):
        return statement.unknown()
    is_overestimated = min(errors.values()) > OVERESTIMATE
    holds = (
        is_overestimated
        and errors_over_growth[0] / 2 <= min(errors_over_growth)
        and max(errors_over_growth) <= 2 * errors_over_growth[0]
    )
    finding = _errors_by_processors(errors)
    if is_overestimated:
        finding += (
            f": {errors_over_growth[-1] / errors_over_growth[0]:.1f} times as much as p / log p from first "
            f"to last"
        )
    return statement.check(holds, finding)


def _few_keys_check(kernels: Sequence[SimulatedKernel]) -> Check:
    statement = Statement("bitonic-error-few-keys", "figure 7", "the error is largest for few keys")
    errors = [bitonic_errors(kernels, keys) for keys in BITONIC_KEYS]
    if any(len(each) < len(BITONIC_MESHES) for each in errors):
        return statement.unknown()
    holds = all(few[p] > many[p] for few, many in pairwise(errors) for p in few)
    most_processors = max(MESHES[mesh] for mesh in BITONIC_MESHES)
    finding = ", ".join(f"{each[most_processors]:+.0%}" for each in errors)
    return statement.check(holds, f"{finding} on {most_processors} processors")


def _direct_routing_check(kernels: Sequence[SimulatedKernel]) -> Check:
    claim = f"BPRAM with direct routing is slower than BSP with few keys of a processor ({min(SAMPLE_KEYS)})"
    return _slower_check(kernels, Statement("direct-slower-than-bsp", "figure 8", claim), "bpram", "bsp", 1)


def _crossover_check(kernels: Sequence[SimulatedKernel]) -> Check:
    claim = f"the butterfly is faster than direct routing up to about {CROSSOVER.si:g} keys of a processor"
    statement = Statement("butterfly-crossover", "figure 8", claim)
    keys = crossover(kernels)
    if keys is None:
        return statement.unknown()
    remark = ", the most that were simulated" if keys == max(SAMPLE_KEYS) else ""
    return statement.check(keys == CROSSOVER.si, f"up to {keys:g}{remark}")


def _butterfly_check(kernels: Sequence[SimulatedKernel]) -> Check:
    statement = Statement("butterfly-faster-than-bsp", "figure 8", "the butterfly is always faster than BSP")
    return _slower_check(kernels, statement, "bsp", "butterfly", len(SAMPLE_KEYS))


def _slower_check(
    kernels: Sequence[SimulatedKernel], statement: Statement, slow: str, fast: str, sizes: int
) -> Check:
    """Whether sample sort takes longer in one way than in another, with the fewest keys."""
    slower, faster = _seconds_by_keys(kernels, slow), _seconds_by_keys(kernels, fast)
    common_keys = [keys for keys in SAMPLE_KEYS if keys in slower and keys in faster][:sizes]
    if not common_keys:
        return statement.unknown()
    ratios = [slower[keys] / faster[keys] for keys in common_keys]
    up_to = f" or more, up to {common_keys[-1]} keys" if sizes > 1 else ""
    return statement.check(min(ratios) > 1, f"{min(ratios):.2f} times as long{up_to}")


def paths_errors(kernels: Sequence[SimulatedKernel]) -> dict[int, float]:
    """The errors of BPRAM for shortest paths with the most nodes, by number of processors."""
    return {
        k.case.ranks: k.errors["bpram"]
        for k in kernels_like(kernels, "shortest_paths", "bpram", n=max(NODES))
        if "bpram" in k.errors
    }


def _few_processors_check(kernels: Sequence[SimulatedKernel]) -> Check:
    claim = (
        f"BPRAM predicts shortest paths well on few processors ({FEW_PROCESSORS}), within {GOOD_ERROR:.0%}"
    )
    statement = Statement("paths-predicted", "figure 9", claim)
    errors = paths_errors(kernels)
    if FEW_PROCESSORS not in errors:
        return statement.unknown()
    return statement.check(abs(errors[FEW_PROCESSORS]) <= GOOD_ERROR, _errors_by_processors(errors))


def _many_processors_check(kernels: Sequence[SimulatedKernel]) -> Check:
    claim = "BPRAM overestimates shortest paths on many processors, more than on few"
    statement = Statement("paths-overestimated", "figure 9", claim)
    errors = paths_errors(kernels)
    if len(errors) < len(PATHS_MESHES):
        return statement.unknown()
    holds = errors[MANY_PROCESSORS] > max(OVERESTIMATE, errors[FEW_PROCESSORS])
    return statement.check(holds, _errors_by_processors(errors))


def _errors_by_processors(errors: Mapping[int, float]) -> str:
    return ", ".join(f"{error:+.0%} on {p}" for p, error in errors.items())


def _repaired_models_check(kernels: Sequence[SimulatedKernel]) -> Check:
    claim = f"repaired models within {REPAIRED_ERROR:.0%} in the median"
    statement = Statement("repaired-models", "", claim)
    errors = [abs(e) for k in kernels if (e := k.errors.get(repaired(k.base).name)) is not None]
    if not errors:
        return statement.unknown()
    finding = f"{median(errors):.1%} in the median of {len(errors)}, at worst {max(errors):.0%}"
    return statement.check(median(errors) <= REPAIRED_ERROR, finding)


def summary(checks: Sequence[Check]) -> tuple[str, ...]:
    """A sentence on how many statements hold, and which do not; empty if nothing was simulated."""
    if all(check.found == NOT_SIMULATED for check in checks):
        return ()
    failed = [check.what for check in checks if not check.holds]
    text = f"{len(checks) - len(failed)} of {len(checks)} statements of the paper hold"
    return (f"{text}; not: {'; '.join(failed)}." if failed else f"{text}.",)


# figures


def figures(answers: Mapping[str, Answer]) -> tuple[Figure, ...]:
    """The paper's figures 6 to 9."""
    kernels = simulated_kernels(answers)
    return _matrix(kernels), _bitonic(kernels), _sample(kernels), _paths(kernels)


def _matrix(kernels: Sequence[SimulatedKernel]) -> Figure:
    series = [
        pages.make_series(
            f"{style}, {MESHES[mesh]} processors",
            [
                (k.case.number("n"), speed(k))
                for k in kernels_like(kernels, "matrix_multiplication", style)
                if k.mesh == mesh
            ],
        )
        for mesh in MATRIX_MESHES
        for style in ("bsp", "bpram")
    ]
    return Figure(
        "paragon-figure-6",
        "Figure 6: matrix multiplication",
        Axis("n", "", "linear"),
        Axis("Mflop/s of a processor", "Mflop/s", "linear", include=(0.0,)),
        tuple(series),
    )


def _bitonic(kernels: Sequence[SimulatedKernel]) -> Figure:
    series = [
        pages.make_series(f"{keys} keys of a processor", sorted(bitonic_errors(kernels, keys).items()))
        for keys in BITONIC_KEYS
    ]
    return Figure(
        "paragon-figure-7",
        "Figure 7: bitonic sort, relative error of BSP",
        Axis("processors", "processors", "linear"),
        Axis("(predicted - simulated) / simulated", "", "linear", include=(0.0,)),
        tuple(series),
    )


def _sample(kernels: Sequence[SimulatedKernel]) -> Figure:
    names = {"bsp": "bsp", "bpram": "bpram", "butterfly": "bpram, butterfly"}
    series = [
        pages.make_series(
            name, [(keys, seconds / keys) for keys, seconds in _seconds_by_keys(kernels, style).items()]
        )
        for style, name in names.items()
    ]
    return Figure(
        "paragon-figure-8",
        f"Figure 8: sample sort on {MESHES[SAMPLE_MESH]} processors",
        Axis("keys of a processor", "keys"),
        Axis("time for each key of a processor", "s"),
        tuple(series),
        marks=((CROSSOVER.si, "32K"),),
    )


def _paths(kernels: Sequence[SimulatedKernel]) -> Figure:
    """The figure of shortest paths, without local work, per element of the matrix of lengths."""
    series = []
    for mesh in PATHS_MESHES:
        group = f"{MESHES[mesh]} processors"
        mesh_kernels = [k for k in kernels_like(kernels, "shortest_paths", "bpram") if k.mesh == mesh]
        points = [(n := k.case.number("n"), (k.seconds - k.work) / n**2) for k in mesh_kernels]
        predicted = [
            (n := k.case.number("n"), ((1 + k.errors["bpram"]) * k.seconds - k.work) / n**2)
            for k in mesh_kernels
            if "bpram" in k.errors
        ]
        series += [
            pages.make_series(f"{group}, simulated", points, group=group),
            pages.make_series(f"{group}, BPRAM", predicted, "line", group),
        ]
    return Figure(
        "paragon-figure-9",
        "Figure 9: shortest paths, communication for each element",
        Axis("n, nodes", "nodes", "linear"),
        Axis("communication / n^2", "s"),
        tuple(series),
        "Points: simulated, without local work. Lines: BPRAM, without local work.",
    )
