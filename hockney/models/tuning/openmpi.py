# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Open MPI's component coll/tuned: settings that force its algorithms, and its file of dynamic rules.

Algorithms and operations have numbers. The numbers of algorithms are the enumerators of
coll_tuned_*_algorithm in `ompi_info --all` of Open MPI 5.0; those of operations follow the order of COLLTYPE
in ompi/mca/coll/base/coll_base_functions.h. The file's format (coll_tuned_dynamic_file.c) is: number of
operations; for each its number, and the number of communicator sizes; for each the size, and the number of
message sizes; for each the message size, the algorithm (0: Open MPI's own choice), the fan-out, and the
length of segments. A line applies from its size up to the size of the next line; communicator sizes work in
the same way. Text from # to the end of a line is a comment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hockney.core.launch_setting import LaunchSetting
from hockney.models.tuning.rules import PLAIN, ChoiceRule, format_gain

ALGORITHMS: Mapping[str, tuple[str, ...]] = {
    "allgather": ("linear", "bruck", "recursive_doubling", "ring", "neighbor", "two_proc", "sparbit"),
    "allreduce": (
        "basic_linear", "nonoverlapping", "recursive_doubling", "ring", "segmented_ring", "rabenseifner",
    ),
    "alltoall": ("linear", "pairwise", "modified_bruck", "linear_sync", "two_proc"),
    "bcast": (
        "basic_linear", "chain", "pipeline", "split_binary_tree", "binary_tree", "binomial", "knomial",
        "scatter_allgather", "scatter_allgather_ring",
    ),
    "gather": ("basic_linear", "binomial", "linear_sync"),
    "reduce": ("linear", "chain", "pipeline", "binary", "binomial", "in-order_binary", "rabenseifner"),
    "reduce_scatter_block": ("basic_linear", "recursive_doubling", "recursive_halving", "butterfly"),
    "scatter": ("basic_linear", "binomial", "linear_nb"),
}  # fmt: skip
"""The names of algorithms 1, 2, ... by operation. The rules for scan do not depend on the number of elements,
so it cannot be tuned by size."""
TWO_RANKS = "two_proc"
"""An algorithm for two ranks only."""
NUMBERS: Mapping[str, int] = {
    "allgather": 0, "allreduce": 2, "alltoall": 3, "bcast": 7, "gather": 9, "reduce": 11,
    "reduce_scatter_block": 13, "scatter": 15,
}  # fmt: skip
OPERATIONS_BY_TOTAL = ("allgather", "alltoall", "gather", "reduce_scatter_block", "scatter")
"""Operations whose message size is that of the blocks of all ranks."""
COLUMNS = "a rule: the message size from which it applies, algorithm, fan-out, segment length"
"""A comment on the lines of the file that select algorithms."""
FANOUT = 4
"""The default of coll_tuned_*_fanout, which applies to forced algorithms."""
PREFIX = "tuned"
"""Settings are called tuned1, tuned2, ...: each forces the algorithm with this number, for all operations."""
USE_RULES_VARIABLE = "OMPI_MCA_coll_tuned_use_dynamic_rules"
RULES_FILE_VARIABLE = "OMPI_MCA_coll_tuned_dynamic_rules_filename"


def forcing_settings() -> tuple[LaunchSetting, ...]:
    """Launch settings: one without variables, and one for each algorithm number."""
    max_number = max(map(len, ALGORITHMS.values()))
    return (LaunchSetting(PLAIN, ()), *(_forcing_setting(number) for number in range(1, max_number + 1)))


def _forcing_setting(number: int) -> LaunchSetting:
    operations = [operation for operation, names in ALGORITHMS.items() if number <= len(names)]
    variables = {f"OMPI_MCA_coll_tuned_{operation}_algorithm": str(number) for operation in operations}
    return LaunchSetting.of(f"{PREFIX}{number}", {USE_RULES_VARIABLE: "1", **variables})


def settings_of_operation(operation: str, ranks: int) -> list[str]:
    """Settings that force an algorithm of an operation on this number of ranks."""
    names = ALGORITHMS.get(operation, ())
    return [f"{PREFIX}{number}" for number, name in enumerate(names, 1) if name != TWO_RANKS or ranks == 2]


def algorithm_of(operation: str, setting: str) -> str:
    """Name of the algorithm that a setting forces."""
    return ALGORITHMS[operation][int(setting.removeprefix(PREFIX)) - 1]


def rules_file_variables(file: str) -> dict[str, str]:
    """Variables that make Open MPI use a file of rules."""
    return {USE_RULES_VARIABLE: "1", RULES_FILE_VARIABLE: file}


def format_dynamic_rules(rules: Sequence[ChoiceRule], comments: Sequence[str]) -> str:
    """Text of the file for rules whose algorithms are names of settings."""
    operations = sorted({rule.operation for rule in rules}, key=NUMBERS.__getitem__)
    lines = [*(f"# {comment}" for comment in (*comments, COLUMNS)), f"{len(operations)} # operations"]
    for operation in operations:
        unit = "all ranks' blocks together" if operation in OPERATIONS_BY_TOTAL else "one rank's vector"
        lines += [
            f"{NUMBERS[operation]} # {operation}; message sizes: bytes of {unit}",
            *_communicator_lines([candidate for candidate in rules if candidate.operation == operation]),
        ]
    return "\n".join(lines) + "\n"


def _communicator_lines(rules: Sequence[ChoiceRule]) -> list[str]:
    """Lines of the rules of one operation by communicator size; sizes that were not measured have no
    rules."""
    by_ranks: dict[int, list[ChoiceRule]] = {0: []}
    for rule in rules:
        by_ranks.setdefault(rule.ranks, []).append(rule)
    for ranks in [ranks for ranks in by_ranks if ranks]:
        by_ranks.setdefault(ranks + 1, [])
    lines = [f"{len(by_ranks)} # communicator sizes"]
    for ranks in sorted(by_ranks):
        messages = _message_lines(ranks, by_ranks[ranks])
        lines += [f"{ranks} {len(messages)} # ranks, message sizes", *messages]
    return lines


def _message_lines(ranks: int, rules: Sequence[ChoiceRule]) -> list[str]:
    text_by_size: dict[int, str] = {0: "0 0 0 # Open MPI's own choice"}
    for rule in sorted(rules, key=lambda rule: rule.first):
        factor = ranks if rule.operation in OPERATIONS_BY_TOTAL else 1
        number = rule.algorithm.removeprefix(PREFIX)
        name = algorithm_of(rule.operation, rule.algorithm)
        text_by_size[rule.first * factor] = f"{number} {FANOUT} 0 # {name}: {format_gain(rule)}"
        text_by_size[rule.last * factor + 1] = "0 0 0 # Open MPI's own choice"
    return [f"{size} {text}" for size, text in sorted(text_by_size.items())]
