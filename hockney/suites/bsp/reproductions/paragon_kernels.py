# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The four kernels of Juurlink (1998) on the Paragon's meshes, figures 6 to 9: where each model is wrong.

As in the paper, programs in BSP put words and programs in BPRAM send blocks. Keys and elements have 4 bytes.
The paper prints few of its numbers, so its statements are checked. Local work is computed at the
description's speed, which is a guess.
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
from hockney.reproductions.compared import (
    CLOSE_ERRORS,
    NOT_SIMULATED_TEXT,
    Check,
    ComparedNumber,
    Statement,
    Status,
)
from hockney.reproductions.parts import Answer
from hockney.suites.bsp.models.costs import (
    BaseModel,
    CostModel,
    fully_repaired_model,
    predict,
    relative_error,
)
from hockney.suites.bsp.models.parameters import (
    BulkCosts,
    LocalRates,
    MissingParameter,
    described_rates,
    machine_costs,
    operations_per_second,
)
from hockney.suites.bsp.models.programs import WORD_BYTES, supersteps
from hockney.suites.bsp.reproductions.paragon_bsp import BSP_MESHES, MESHES, PAPER_VALUES, part_name

KERNELS = {
    "matrix_multiplication": ("matrix multiplication", "multiplication"),
    "bitonic_sort": ("bitonic sort", "sort"),
    "sample_sort": ("sample sort", "sort"),
    "shortest_paths": ("shortest paths", "min-plus"),
}
"""The operation of each workload, and the local work that determines its speed."""
BSP_STYLE, BUTTERFLY_STYLE = f"style=bsp packet={WORD_BYTES}", "style=bpram route=butterfly"
MATRIX_MESHES, MATRICES = ("4x2", "8x8"), (220, 440, 660, 880)
BITONIC_MESHES, BITONIC_KEYS = ("4x2", "4x4", "8x4", "8x8"), (64, 512, 4096)
SAMPLE_MESH, SAMPLE_KEYS = "8x8", (256, 1024, 4096, 8192, 16384, 32768, 65536, 131072, 262144)
MAX_BSP_KEYS = 8192
"""Maximum keys per processor that are simulated as words. With more, 4032 long messages that share the mesh
take minutes to simulate."""
PATHS_MESHES, NODES = ("4x4", "6x6", "8x8", "10x10"), (120, 240, 480)
SHARES = {"bsp/8": ("4x2", "bsp"), "bsp/64": ("8x8", "bsp"), "bpram": ("8x8", "bpram")}
"""Mesh and style of the printed shares of communication in a matrix multiplication. The last one is an upper
bound."""
BSP_SHARE_KEY = "paragon/matrix/communication/bsp/"
MULTIPLICATION_RATE = 22.3e6
"""Multiplications and additions per processor and second for which communication takes the printed 20% of the
time in BSP on 8 processors. Other work is computed at the description's speed."""
CROSSOVER_ROW = PAPER_VALUES.row("paragon/sample-sort/crossover")
"""The printed maximum number of keys per processor for which routing along a butterfly is faster."""
COMPARABLE_SPEED = 0.9
"""Two speeds are comparable if the slower is above this share of the faster."""
GOOD_ERROR = 0.15
"""Maximum error of a good prediction."""
MIN_OVERESTIMATE = 0.1
REPAIRED_ERROR = 0.15
FEW_PROCESSORS, MANY_PROCESSORS = 16, 100
"""Processors of shortest paths for which BPRAM predicts well, and for which it overestimates."""
SLOW_COPIES = "slow-copies"
"""The part, and the machine's variant, in which sample sort changes its route at the printed keys."""
SLOW_COPIES_TITLE = "copies in memory at 9 MB/s"


@dataclass(frozen=True)
class SimulatedKernel:
    """The result of a simulated kernel. `errors` are (predicted - simulated) / simulated by model.
    `communication` includes waiting for others. `work` is the local work of the busiest processor in each
    superstep, by the model."""

    case: Case
    mesh: str
    base: BaseModel
    seconds: float
    communication: float
    work: float
    errors: Mapping[str, float]

    @property
    def route(self) -> str:
        return str(self.case.get("route", "direct"))


def case_lines(mesh: str, platform: Platform) -> Iterator[str]:
    """Yields the cases of the kernels that run on a mesh."""
    p = MESHES[mesh]
    suffix = f"sync=window ranks={p}"
    if mesh in MATRIX_MESHES:
        for n in MATRICES:
            for style in (BSP_STYLE, "style=bpram"):
                rate = f"rate={MULTIPLICATION_RATE:.6g}"
                yield f"matrix_multiplication n={n} type=float {style} {rate} {suffix}"
    if mesh in BITONIC_MESHES:
        for keys in BITONIC_KEYS:
            yield f"bitonic_sort keys={keys} type=uint32 {BSP_STYLE} {_sorting_arguments(platform)} {suffix}"
    if mesh == SAMPLE_MESH:
        yield from sample_sort_lines(platform, (BSP_STYLE, "style=bpram", BUTTERFLY_STYLE))
    if mesh in PATHS_MESHES:
        speeds = f"{_rate_argument('min-plus', platform)} {_copying_argument(platform)}"
        for n in NODES:
            for style in (BSP_STYLE, "style=bpram") if mesh in BSP_MESHES else ("style=bpram",):
                yield f"shortest_paths n={n} {style} {speeds} {suffix}"


def sample_sort_lines(platform: Platform, styles: Sequence[str]) -> Iterator[str]:
    speeds = f"{_sorting_arguments(platform)} {_copying_argument(platform)}"
    for keys in SAMPLE_KEYS:
        for style in styles:
            if style != BSP_STYLE or keys <= MAX_BSP_KEYS:
                yield (
                    f"sample_sort keys={keys} type=uint32 {style} {speeds} sync=window "
                    f"ranks={MESHES[SAMPLE_MESH]}"
                )


def _sorting_arguments(platform: Platform) -> str:
    return f"{_rate_argument('sort', platform)} merge_rate={operations_per_second(platform, 'merge'):.6g}"


def _copying_argument(platform: Platform) -> str:
    return f"copy_rate={operations_per_second(platform, 'copy'):.6g}"


def _rate_argument(operation: str, platform: Platform) -> str:
    return f"rate={operations_per_second(platform, operation):.6g}"


def local_rates(platform: Platform) -> LocalRates:
    """Returns the described rates of local work."""
    return described_rates(platform, {"multiplication": MULTIPLICATION_RATE})


def simulated_kernels(answers: Mapping[str, Answer]) -> list[SimulatedKernel]:
    """Returns every simulated kernel, with the errors of the models whose parameters are known."""
    return [kernel for mesh in MESHES for kernel in _kernels_on_mesh(mesh, answers[part_name(mesh)])]


def _kernels_on_mesh(mesh: str, answer: Answer) -> Iterator[SimulatedKernel]:
    costs = machine_costs(answer.fits, MESHES[mesh], local_rates(answer.platform))
    if costs.bpram is not None and costs.bpram.isolated_startup_s is not None:
        # The cost of an isolated message comes from the ping-pong, which does not use the library.
        isolated_startup_s = costs.bpram.isolated_startup_s + answer.platform.libraries.step_s
        costs = replace(
            costs,
            bpram=replace(costs.bpram, isolated_startup_s=min(isolated_startup_s, costs.bpram.startup_s)),
        )
    return kernels_in_part(mesh, answer, costs)


def kernels_in_part(mesh: str, answer: Answer, costs: BulkCosts | None = None) -> Iterator[SimulatedKernel]:
    """Yields the kernels of a part, with the errors of the models if the machine's `costs` are given."""
    for case in answer.part.cases:
        if case.workload not in KERNELS:
            continue
        records = answer.records(case.workload, **case.values)
        seconds = answer.seconds(case.workload, **case.values)
        steps = supersteps(KERNELS[case.workload][0], case)
        if seconds is None or steps is None:
            continue
        base: BaseModel = "bsp" if case["style"] == "bsp" else "bpram"
        errors_by_model, work = {}, 0.0
        for model in (CostModel(base), fully_repaired_model(base)):
            try:
                if costs is not None:
                    terms = predict(steps, costs, model)
                    work, errors_by_model[model.name] = terms.work, relative_error(terms.total, seconds)
            except MissingParameter:
                continue
        yield SimulatedKernel(
            case, mesh, base, seconds, _communication_seconds(records), work, errors_by_model
        )


def _communication_seconds(records: Sequence[Record]) -> float:
    """Returns the seconds of communication in one repetition; 0 if the kernel did not report them."""
    seconds = [
        value
        for record in records
        if (metric := record.metrics.get("communication"))
        for value in metric.values
    ]
    return median(seconds) if seconds else 0.0


def select_kernels(
    kernels: Sequence[SimulatedKernel], workload: str, base: str = "", **parameters: object
) -> list[SimulatedKernel]:
    return [
        kernel
        for kernel in kernels
        if kernel.case.workload == workload
        and base in ("", kernel.base)
        and all(kernel.case.get(name) == value for name, value in parameters.items())
    ]


# Printed numbers


def compare(answers: Mapping[str, Answer]) -> list[ComparedNumber]:
    """Compares the shares of communication, and the number of keys at which the better route changes."""
    kernels = simulated_kernels(answers)
    rows = []
    for name, (mesh, style) in SHARES.items():
        row = PAPER_VALUES.row(f"paragon/matrix/communication/{name}")
        selected_kernels = select_kernels(
            kernels, "matrix_multiplication", style, n=max(MATRICES), ranks=MESHES[mesh]
        )
        share = selected_kernels[0].communication / selected_kernels[0].seconds if selected_kernels else None
        is_upper_bound = style == "bpram"
        status: Status = "fitted" if name == "bsp/8" else "predicted"
        label = f"communication in a matrix multiplication, {style}, {MESHES[mesh]} processors"
        rows.append(
            ComparedNumber(
                row.key, label, row.si, share, None, PERCENT, status, table="kernels",
                note="the paper: less than" if is_upper_bound else "", bound=is_upper_bound,
            )
        )  # fmt: skip
    slow_copies_kernels = list(kernels_in_part(SAMPLE_MESH, answers[SLOW_COPIES]))
    for selected_kernels, mechanism in ((kernels, ""), (slow_copies_kernels, SLOW_COPIES_TITLE)):
        status = "fitted" if mechanism else "predicted"
        rows.append(
            ComparedNumber(
                CROSSOVER_ROW.key, "sample sort: the butterfly is faster up to", CROSSOVER_ROW.si,
                crossover(selected_kernels), None, "keys", status, mechanism, table="kernels",
            )
        )  # fmt: skip
    return rows


def crossover(kernels: Sequence[SimulatedKernel]) -> float | None:
    """Returns the largest simulated number of keys per processor for which the butterfly is faster than
    direct routing."""
    seconds_by_style = {style: _seconds_by_keys(kernels, style) for style in ("bpram", "butterfly")}
    faster_keys = [
        keys
        for keys, seconds in seconds_by_style["butterfly"].items()
        if keys in seconds_by_style["bpram"] and seconds < seconds_by_style["bpram"][keys]
    ]
    return float(max(faster_keys)) if faster_keys else None


def _seconds_by_keys(kernels: Sequence[SimulatedKernel], style: str) -> dict[int, float]:
    """Returns the seconds of sample sort by keys per processor: in BSP, in BPRAM with direct routing, or by
    butterfly."""
    base, route = ("bpram", style) if style == "butterfly" else (style, "direct")
    return {
        int(kernel.case.number("keys")): kernel.seconds
        for kernel in select_kernels(kernels, "sample_sort", base, route=route)
    }


# Statements of the paper


def checks(answers: Mapping[str, Answer], comparisons: Sequence[ComparedNumber]) -> list[Check]:
    kernels = simulated_kernels(answers)
    return [
        _bsp_speed_check(kernels),
        _bsp_communication_check(comparisons),
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
    """Returns the Mflop/s of a processor in a matrix multiplication."""
    return 2 * kernel.case.number("n") ** 3 / kernel.case.ranks / kernel.seconds / 1e6


def _bsp_speed_check(kernels: Sequence[SimulatedKernel]) -> Check:
    statement = Statement(
        "bsp-below-bpram", "figure 6", "BSP never achieves a performance comparable to BPRAM"
    )
    shares = {
        (mesh, n): speed(bsp_kernels[0]) / speed(bpram_kernels[0])
        for mesh in MATRIX_MESHES
        for n in MATRICES
        if (bsp_kernels := select_kernels(kernels, "matrix_multiplication", "bsp", n=n, ranks=MESHES[mesh]))
        and (
            bpram_kernels := select_kernels(
                kernels, "matrix_multiplication", "bpram", n=n, ranks=MESHES[mesh]
            )
        )
    }
    if len(shares) < len(MATRIX_MESHES) * len(MATRICES):
        return statement.unknown()
    largest_case = max(shares, key=lambda key: shares[key])
    finding = (
        f"at most {shares[largest_case]:.0%} of its speed, on {largest_case[0]} with n = {largest_case[1]}"
    )
    return statement.check(shares[largest_case] < COMPARABLE_SPEED, finding)


def _bsp_communication_check(comparisons: Sequence[ComparedNumber]) -> Check:
    """Checks the share of communication in BSP. The share on 8 processors was fitted."""
    fitted_row, predicted_row = (row for row in comparisons if row.key.startswith(BSP_SHARE_KEY))
    claim = (
        f"in BSP, communication is {fitted_row.published:.0%} of a multiplication with "
        f"n = {max(MATRICES)} on 8 processors and {predicted_row.published:.0%} on 64, within "
        f"{CLOSE_ERRORS[-1]:.0%}"
    )
    return Statement("bsp-communication", "text on figure 6", claim).within(
        (fitted_row, predicted_row), CLOSE_ERRORS[-1]
    )


def _bpram_communication_check(kernels: Sequence[SimulatedKernel]) -> Check:
    limit = PAPER_VALUES.row("paragon/matrix/communication/bpram").si
    n = max(MATRICES)
    claim = f"in BPRAM, communication is less than {limit:.1%} of a matrix multiplication with n = {n}"
    statement = Statement("bpram-communication", "text on figure 6", claim)
    shares = [
        kernel.communication / kernel.seconds
        for kernel in select_kernels(kernels, "matrix_multiplication", "bpram", n=n)
    ]
    if len(shares) < len(MATRIX_MESHES):
        return statement.unknown()
    return statement.check(max(shares) < limit, f"{max(shares):.1%}")


def bitonic_errors(kernels: Sequence[SimulatedKernel], keys: int) -> dict[int, float]:
    """Returns the errors of BSP for bitonic sort, by number of processors."""
    return {
        kernel.case.ranks: kernel.errors["bsp"]
        for kernel in select_kernels(kernels, "bitonic_sort", keys=keys)
        if "bsp" in kernel.errors
    }


def _error_growth_check(kernels: Sequence[SimulatedKernel]) -> Check:
    """Checks that BSP's error grows as p / log p. With the paper's own L, which has a part that is
    independent of p, the error grows faster."""
    claim = "BSP overestimates bitonic sort by an error that grows as p / log p, within a factor of 2"
    statement = Statement("bitonic-error-grows", "figure 7", claim)
    errors = bitonic_errors(kernels, min(BITONIC_KEYS))
    scaled_errors = [error * math.log2(p) / p for p, error in errors.items()]
    if len(scaled_errors) < len(BITONIC_MESHES):
        return statement.unknown()
    is_overestimated = min(errors.values()) > MIN_OVERESTIMATE
    holds = (
        is_overestimated
        and scaled_errors[0] / 2 <= min(scaled_errors)
        and max(scaled_errors) <= 2 * scaled_errors[0]
    )
    finding = _errors_by_processors(errors)
    if is_overestimated:
        finding += (
            f": {scaled_errors[-1] / scaled_errors[0]:.1f} times as much as p / log p from first to last"
        )
    return statement.check(holds, finding)


def _few_keys_check(kernels: Sequence[SimulatedKernel]) -> Check:
    statement = Statement("bitonic-error-few-keys", "figure 7", "the error is largest for few keys")
    errors = [bitonic_errors(kernels, keys) for keys in BITONIC_KEYS]
    if any(len(errors_by_ranks) < len(BITONIC_MESHES) for errors_by_ranks in errors):
        return statement.unknown()
    holds = all(
        fewer_keys_errors[p] > more_keys_errors[p]
        for fewer_keys_errors, more_keys_errors in pairwise(errors)
        for p in fewer_keys_errors
    )
    max_processors = max(MESHES[mesh] for mesh in BITONIC_MESHES)
    finding = ", ".join(f"{errors_by_ranks[max_processors]:+.0%}" for errors_by_ranks in errors)
    return statement.check(holds, f"{finding} on {max_processors} processors")


def _direct_routing_check(kernels: Sequence[SimulatedKernel]) -> Check:
    claim = f"BPRAM with direct routing is slower than BSP with few keys of a processor ({min(SAMPLE_KEYS)})"
    return _slower_check(kernels, Statement("direct-slower-than-bsp", "figure 8", claim), "bpram", "bsp", 1)


def _crossover_check(kernels: Sequence[SimulatedKernel]) -> Check:
    claim = (
        f"the butterfly is faster than direct routing up to about {CROSSOVER_ROW.si:g} keys of a processor"
    )
    statement = Statement("butterfly-crossover", "figure 8", claim)
    keys = crossover(kernels)
    if keys is None:
        return statement.unknown()
    remark = ", the most that were simulated" if keys == max(SAMPLE_KEYS) else ""
    return statement.check(keys == CROSSOVER_ROW.si, f"up to {keys:g}{remark}")


def _butterfly_check(kernels: Sequence[SimulatedKernel]) -> Check:
    statement = Statement("butterfly-faster-than-bsp", "figure 8", "the butterfly is always faster than BSP")
    return _slower_check(kernels, statement, "bsp", "butterfly", len(SAMPLE_KEYS))


def _slower_check(
    kernels: Sequence[SimulatedKernel], statement: Statement, slow_style: str, fast_style: str, sizes: int
) -> Check:
    """Checks whether sample sort takes longer in `slow_style` than in `fast_style`, for the `sizes` smallest
    numbers of keys."""
    slow_seconds, fast_seconds = _seconds_by_keys(kernels, slow_style), _seconds_by_keys(kernels, fast_style)
    common_keys = [keys for keys in SAMPLE_KEYS if keys in slow_seconds and keys in fast_seconds][:sizes]
    if not common_keys:
        return statement.unknown()
    ratios = [slow_seconds[keys] / fast_seconds[keys] for keys in common_keys]
    range_text = f" or more, up to {common_keys[-1]} keys" if sizes > 1 else ""
    return statement.check(min(ratios) > 1, f"{min(ratios):.2f} times as long{range_text}")


def paths_errors(kernels: Sequence[SimulatedKernel]) -> dict[int, float]:
    """Returns the errors of BPRAM for shortest paths with the most nodes, by number of processors."""
    return {
        kernel.case.ranks: kernel.errors["bpram"]
        for kernel in select_kernels(kernels, "shortest_paths", "bpram", n=max(NODES))
        if "bpram" in kernel.errors
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
    holds = errors[MANY_PROCESSORS] > max(MIN_OVERESTIMATE, errors[FEW_PROCESSORS])
    return statement.check(holds, _errors_by_processors(errors))


def _errors_by_processors(errors: Mapping[int, float]) -> str:
    return ", ".join(f"{error:+.0%} on {p}" for p, error in errors.items())


def _repaired_models_check(kernels: Sequence[SimulatedKernel]) -> Check:
    claim = f"repaired models within {REPAIRED_ERROR:.0%} in the median"
    statement = Statement("repaired-models", "", claim)
    errors = [
        abs(error)
        for kernel in kernels
        if (error := kernel.errors.get(fully_repaired_model(kernel.base).name)) is not None
    ]
    if not errors:
        return statement.unknown()
    finding = f"{median(errors):.1%} in the median of {len(errors)}, at worst {max(errors):.0%}"
    return statement.check(median(errors) <= REPAIRED_ERROR, finding)


def summary(checks: Sequence[Check]) -> tuple[str, ...]:
    """Returns a sentence with the number of statements that hold and those that do not; empty if nothing was
    simulated."""
    if all(check.found == NOT_SIMULATED_TEXT for check in checks):
        return ()
    failed_claims = [check.what for check in checks if not check.holds]
    text = f"{len(checks) - len(failed_claims)} of {len(checks)} statements of the paper hold"
    return (f"{text}; not: {'; '.join(failed_claims)}." if failed_claims else f"{text}.",)


# Figures


def figures(answers: Mapping[str, Answer]) -> tuple[Figure, ...]:
    """Returns the paper's figures 6 to 9."""
    kernels = simulated_kernels(answers)
    return _matrix_figure(kernels), _bitonic_figure(kernels), _sample_figure(kernels), _paths_figure(kernels)


def _matrix_figure(kernels: Sequence[SimulatedKernel]) -> Figure:
    series = [
        pages.make_series(
            f"{style}, {MESHES[mesh]} processors",
            [
                (kernel.case.number("n"), speed(kernel))
                for kernel in select_kernels(kernels, "matrix_multiplication", style)
                if kernel.mesh == mesh
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


def _bitonic_figure(kernels: Sequence[SimulatedKernel]) -> Figure:
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


def _sample_figure(kernels: Sequence[SimulatedKernel]) -> Figure:
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
        marks=((CROSSOVER_ROW.si, "32K"),),
    )


def _paths_figure(kernels: Sequence[SimulatedKernel]) -> Figure:
    """Draws the time of shortest paths without local work, per element of the matrix of lengths."""
    series = []
    for mesh in PATHS_MESHES:
        group = f"{MESHES[mesh]} processors"
        mesh_kernels = [
            kernel for kernel in select_kernels(kernels, "shortest_paths", "bpram") if kernel.mesh == mesh
        ]
        simulated_points = [(n := k.case.number("n"), (k.seconds - k.work) / n**2) for k in mesh_kernels]
        predicted_points = [
            (n := k.case.number("n"), ((1 + k.errors["bpram"]) * k.seconds - k.work) / n**2)
            for k in mesh_kernels
            if "bpram" in k.errors
        ]
        series += [
            pages.make_series(f"{group}, simulated", simulated_points, group=group),
            pages.make_series(f"{group}, BPRAM", predicted_points, "line", group),
        ]
    return Figure(
        "paragon-figure-9",
        "Figure 9: shortest paths, communication for each element",
        Axis("n, nodes", "nodes", "linear"),
        Axis("communication / n^2", "s"),
        tuple(series),
        "Points: simulated, without local work. Lines: BPRAM, without local work.",
    )
