# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""--like BENCHMARK: the case that measures what a benchmark of OSU or IMB does."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hockney.core.case import split_case
from hockney.core.errors import UsageError, printable, sentences


def like_cases(
    names: Sequence[str], words: Sequence[str], sizes_given: bool, say: Callable[[str], None]
) -> tuple[str, ...]:
    """The cases of the benchmarks `names`, in which `words` replace parameters; `say` gets what each is and
    how its definition differs. Raises UsageError for an unknown benchmark, one without an equivalent, and
    words that are not parameters."""
    from hockney.reference.peers import find  # reads the tables, which no other command needs

    for word in words:
        if "=" not in word:
            raise UsageError(
                f"'{printable(word)}' does not go with --like",
                "the benchmark determines what is measured",
                f"give only its parameters, for example --like {printable(names[0])} bytes=8",
                code="like-with-cases",
                word=word,
            )
    _, parameters = split_case(" ".join(["like", *words]))
    cases = []
    for name in names:
        benchmark, group = find(name)
        case = benchmark.line(parameters, sizes=not sizes_given)
        cases.append(case)
        say(
            "note: "
            + sentences(
                f"{benchmark.name} is {'close to ' if benchmark.close else ''}'{case}'",
                group.defined,
                benchmark.differs,
            )
        )
    return tuple(cases)
