# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney predict: the performance of a parallel algorithm on a machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hockney import api
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.results import print_caveats
from hockney.cli.output.tables import print_json, print_line, print_table, print_unwrapped
from hockney.cli.output.terminal import echo
from hockney.core.errors import ExitCode, UsageError, printable
from hockney.core.notice import Notice
from hockney.core.paths import is_description_file, to_path
from hockney.core.wording import flag
from hockney.draw.page import Caveat, Table
from hockney.models.applications.grain_prediction import Prediction
from hockney.models.applications.granularity import Algorithm
from hockney.pages import grain_prediction, program_scaling
from hockney.pages.caveats.predictions import CostsOrigin, prediction_caveats
from hockney.profiles.manifest import is_profile
from hockney.system.files import check_user_file

if TYPE_CHECKING:
    from hockney.api.replays import TracePrediction
    from hockney.api.scaling_predictions import ScalingPrediction

_FLAGS = {"machine": "--machine", "larger": "--larger-machine", "rate": "--rate"}
"""The options that apply to the kernels of some suites."""
_NOT_FOR_KERNELS = ("work", "message", "grid", "halo", "allreduce", "network", "nodes", "ranks_per_node")
_ALGORITHM = (*_NOT_FOR_KERNELS, "rate")
"""Options that describe an algorithm, or do not apply to programs that a file describes."""


_FOR_PROFILES = (
    "barrier", "algorithms", "eager_limit", "latency", "bandwidth", "aggregate", "overlap", "balance",
    "quiet_cores", "compute_scale", "freeze", "page", "scaling", "memory",
)  # fmt: skip
"""Options that only apply to the profile of a program."""
_NOT_FOR_PROFILES = (
    "work", "message", "grid", "halo", "serial", "network", "nodes", "ranks_per_node", "rate", "ranks",
    "larger_machine", "memory",
)  # fmt: skip
_OF_SCALING = ("ranks", "ranks_per_node", "larger_machine", "memory")
"""Those that apply to several profiles."""
_NAMED_DIFFERENTLY = {"algorithms": "--algorithm", "quiet_cores": "--no-noise", "page": "--report"}


def action(kernel: tuple[str, ...], named: str, size: str, **given: Any) -> int:
    if given["scores"]:
        return _print_scores(kernel, given)
    if given["archive"] is not None:
        raise UsageError(
            "--archive is without --scores",
            "only the record of checked predictions is in the archive",
            "leave out --archive, or add --scores",
            code="archive-without-scores",
        )
    if kernel and not named and is_profile(to_path(kernel[0])):
        if given["ranks"] or given["scaling"] or any(is_profile(to_path(each)) for each in kernel[1:]):
            return _predict_scaling(kernel, size, given)
        return _predict_profile(kernel, size, {**given, "machine": _single_machine(given)})
    given["machine"] = _single_machine(given)
    _refuse_other_options("what is not a profile", "the trace of a program has it", given, _FOR_PROFILES)
    words = (*([named] if named else []), *kernel)
    if words and is_description_file(words[0]):
        _refuse_other_options(
            "a file that describes a program", "it defines its work and messages", given, _ALGORITHM
        )
        return _predict_program(api.Program.read(words[0]).with_typed_sizes(words[1:]), given)
    if words:
        words = (*words, f"class={size}") if size else words
        return _predict_kernel(words, given)
    for name, value in {"--class": size, "--rate": given["rate"]}.items():
        if value:
            raise UsageError(
                f"{name} is without a kernel",
                "it belongs to a benchmark",
                "add for example --kernel cg",
                code="option-without-kernel",
                option=name,
            )
    if given["halo"] or given["allreduce"] or given["grid"]:
        _refuse_other_options(
            "--halo and --allreduce", "they describe another program", given, ("message", "network")
        )
        return _predict_program(_program_from_options(given), given)
    return _predict_algorithm(given)


def _refuse_other_options(
    subject: str, reason: str, given: Mapping[str, Any], other_options: Sequence[str]
) -> None:
    for name in other_options:
        if given[name]:
            option = _NAMED_DIFFERENTLY.get(name) or flag(name)
            raise UsageError(
                f"{option} does not apply to {subject}",
                reason,
                f"leave out {option}",
                code="option-without-effect",
                option=option,
            )


def _single_machine(given: Mapping[str, Any]) -> str:
    """The machine, or "" if none is given."""
    machines: tuple[str, ...] = given["machine"]
    if len(machines) > 1:
        raise UsageError(
            f"--machine {printable(machines[1])} is one too many",
            "only traces on several numbers of ranks are predicted for several machines at once",
            "name one machine",
            code="several-machines",
            machines=list(machines),
        )
    return machines[0] if machines else ""


def _print_scores(words: tuple[str, ...], given: Mapping[str, Any]) -> int:
    """Print the scores of checked predictions."""
    if words:
        raise UsageError(
            f"--scores and {printable(words[0])} exclude each other",
            "the record has all checks",
            "leave out --scores, or what is to be predicted",
            code="scores-of-something",
        )
    scores = api.prediction_scores(given["archive"])
    if given["as_json"]:
        print_json(scores.document)
        return 0
    for sentence in scores.sentences:
        print_line(sentence)
    if scores.rows:
        _print_table(scores.table)
    return 0


def _predict_profile(words: tuple[str, ...], size: str, given: Mapping[str, Any]) -> int:
    """Replay the trace of a profile and print the predicted gains of changes."""
    if len(words) > 1 or size:
        raise UsageError(
            f"{printable(words[1]) if len(words) > 1 else '--class'} does not apply to a profile",
            "its trace has the sizes of the program's problem",
            "leave it out",
            code="size-of-profile",
        )
    changed_options = _changed_options(given)
    _refuse_other_options(
        "a profile",
        "its trace has the program's work and messages",
        {**given, **changed_options},
        (*_NOT_FOR_PROFILES, *changed_options),
    )
    _check_written_files(given)
    algorithms = dict(given["algorithms"])
    for name in ("barrier", "allreduce"):
        if given[name]:
            algorithms[name] = given[name]
    with ProgressReporter(given["quiet"]) as reporter:
        prediction = api.predict_trace(
            words[0],
            algorithms=algorithms,
            eager_limit=given["eager_limit"],
            latency=given["latency"],
            bandwidth=given["bandwidth"],
            aggregate=given["aggregate"],
            overlap=given["overlap"],
            balance=given["balance"],
            no_noise=given["quiet_cores"],
            machine=given["machine"],
            compute_scale=given["compute_scale"],
            run=given["run"],
            cost=given["cost"],
            listen=reporter,
        )
        return _print_prediction(prediction, given, reporter)


def _predict_scaling(words: tuple[str, ...], size: str, given: Mapping[str, Any]) -> int:
    """Predict how a program with traces on several numbers of ranks scales."""
    for word in words:
        if not is_profile(to_path(word)):
            raise UsageError(
                f"{printable(word)} is not a profile",
                "profiles on several numbers of ranks show how a program scales",
                "name profiles only",
                code="no-profile-to-scale",
                text=word,
            )
    others = [
        each for each in _FOR_PROFILES if each not in ("compute_scale", "freeze", "page", "scaling", "memory")
    ]
    changed_options = _changed_options(given)
    _refuse_other_options(
        "several profiles",
        "they predict how the program scales as it is",
        {**given, **changed_options, "class": size},
        (
            *(each for each in _NOT_FOR_PROFILES if each not in _OF_SCALING),
            *changed_options,
            "class",
            *others,
        ),
    )
    if not given["ranks"]:
        raise UsageError(
            "--ranks is missing",
            "it names the numbers of ranks to predict",
            "use for example --ranks 16:256",
            code="scaling-without-ranks",
        )
    _check_written_files(given)
    with ProgressReporter(given["quiet"]) as reporter:
        prediction = api.predict_scaling(
            words,
            given["ranks"],
            scaling=given["scaling"] or "strong",
            machine=given["machine"],
            larger=given["larger_machine"],
            ranks_per_node=given["ranks_per_node"] or 0,
            compute_scale=given["compute_scale"],
            run=given["run"],
            memory=given["memory"],
            cost=given["cost"],
            listen=reporter,
        )
        return _print_prediction(prediction, given, reporter)


def _check_written_files(given: Mapping[str, Any]) -> None:
    for name in ("page", "freeze"):
        if given[name] is not None:
            check_user_file(given[name])


def _print_prediction(
    prediction: TracePrediction | ScalingPrediction, given: Mapping[str, Any], reporter: ProgressReporter
) -> int:
    """Write the requested files and print the prediction. Returns the exit code."""
    answer = prediction.answer
    written_files = []
    if given["freeze"] is not None:
        written_files.append(("prediction", prediction.freeze(given["freeze"])))
    if given["page"] is not None:
        with reporter.show_step("writing the report"):
            written_files.append(("report", prediction.report(given["page"])))
    if given["as_json"]:
        files = {name: printable(str(path)) for name, path in written_files}
        print_json({**prediction.document, **files})
    else:
        with reporter.show_step("predicting changes"):
            sentences, tables = list(answer.sentences), answer.tables
        _print_answer(sentences, tables, answer.caveats, written_files)
    return ExitCode.SUCCESS if prediction.is_conclusive else ExitCode.INCONCLUSIVE


def _print_answer(
    sentences: Sequence[str],
    tables: Sequence[Table],
    caveats: Sequence[Caveat],
    written_files: Sequence[tuple[str, Path]],
) -> None:
    for sentence in sentences:
        print_line(sentence)
    for table in tables:
        echo()
        print_line(table.title)
        print_table(table)
        if table.caption:
            print_line(table.caption)
    print_caveats(caveats, apart=True)
    for name, path in written_files:
        print_unwrapped(f"{name}: {printable(str(path))}")


def _changed_options(given: Mapping[str, Any]) -> dict[str, bool]:
    """Options of described algorithms that do not have their defaults."""
    defaults = {"serial": 0.0, "exchanges": 1.0, "imbalance": 1.0}
    return {name: given[name] != value for name, value in defaults.items()}


def _predict_kernel(words: tuple[str, ...], given: Mapping[str, Any]) -> int:
    predictor = api.predictor_of(words[0])
    other_options = {flag(name): given[name] for name in _NOT_FOR_KERNELS}
    kernel_options = {"machine": given["machine"], "larger": given["larger_machine"], "rate": given["rate"]}
    other_options |= {
        _FLAGS[name]: value for name, value in kernel_options.items() if name not in predictor.OPTIONS
    }
    for name, value in other_options.items():
        if value:
            raise UsageError(
                f"{name} does not apply to a kernel",
                "a kernel defines its own work and messages",
                f"leave out {name}, or the kernel",
                code="kernel-with-algorithm",
                option=name,
            )
    with ProgressReporter(given["quiet"]) as reporter:
        shared = {name: given[name] for name in ("ranks", "run", "machine", "rate", "cost")}
        options = api.KernelOptions(**shared, larger=given["larger_machine"], listen=reporter)
        predicted_kernel = predictor.predict(" ".join(words), options)
    if given["as_json"]:
        print_json(predicted_kernel.document)
    else:
        _print_contents(predicted_kernel.shown, predicted_kernel.caveats)
    return 0


def _predict_program(program: api.Program, given: Mapping[str, Any]) -> int:
    with ProgressReporter(given["quiet"]) as reporter:
        common_options = {name: given[name] for name in ("ranks", "run", "machine", "cost")}
        prediction = program.predict(**common_options, larger=given["larger_machine"], listen=reporter)
    if given["as_json"]:
        print_json(prediction.document)
    else:
        _print_contents(
            program_scaling.forecast_contents(prediction.forecast, prediction.messages), prediction.caveats
        )
    return 0


def _program_from_options(given: Mapping[str, Any]) -> api.Program:
    if given["work"] is None:
        raise _missing_option_error("--work", "350us")
    work_s, _ = given["work"]
    return api.program_of_options(
        work_s, given["grid"] or "", given["halo"], given["allreduce"], given["serial"], given["imbalance"]
    )


def _missing_option_error(option: str, example: str) -> UsageError:
    return UsageError(
        f"{option} is missing",
        "it describes the algorithm",
        f"use for example {option} {example}",
        code="algorithm-incomplete",
        option=option,
    )


def _predict_algorithm(given: Mapping[str, Any]) -> int:
    work, message = given["work"], given["message"]
    if work is None or message is None:
        raise (
            _missing_option_error("--work", "1s")
            if work is None
            else _missing_option_error("--message", "40kB")
        )
    work_s, typed = work
    algorithm = Algorithm(work_s, message, given["serial"], given["exchanges"], given["imbalance"])
    with ProgressReporter(given["quiet"]) as reporter:
        if work_s and typed.strip()[-1].isdecimal():
            number = typed.strip()
            reporter(
                Notice(
                    f"--work {printable(number)} has no unit and is taken as seconds; for microseconds write "
                    f"{printable(number)}us",
                    "work-without-unit",
                )
            )
        names = ("ranks", "run", "machine", "cost", "nodes", "ranks_per_node")
        forecast = api.predict(
            algorithm,
            **{name: given[name] for name in names},
            shared=None if given["network"] is None else given["network"] == "shared",
            larger=given["larger_machine"],
            listen=reporter,
        )
    prediction, origin = forecast.prediction, forecast.known
    if given["as_json"]:
        caveats = prediction_caveats(prediction, origin)
        print_json(grain_prediction.document(prediction, caveats, origin.platform))
    else:
        _print_forecast(prediction, origin)
    return 0


def _print_contents(contents: Sequence[str | Table], caveats: Sequence[Caveat]) -> None:
    """Print sentences and tables. An empty line separates sentences from a preceding table."""
    previous: str | Table = ""
    for content in contents:
        if isinstance(content, Table):
            _print_table(content)
        else:
            if isinstance(previous, Table):
                echo()
            print_line(content)
        previous = content
    print_caveats(caveats, apart=True)


def _print_forecast(prediction: Prediction, origin: CostsOrigin) -> None:
    for sentence in grain_prediction.assumption_sentences(prediction, origin.platform):
        print_line(sentence)
    _print_table(grain_prediction.ranks_table(prediction))
    if prediction.needed:
        _print_table(grain_prediction.work_table(prediction))
    echo()
    for sentence in grain_prediction.best_sentences(prediction):
        print_line(sentence)
    if prediction.changes:
        print_line(grain_prediction.changes_heading(prediction))
        _print_table(grain_prediction.levers_table(prediction))
    print_caveats(prediction_caveats(prediction, origin), apart=True)


def _print_table(table: Table) -> None:
    echo()
    print_table(table)
