# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Every message of the program, made from sample arguments.

The user-facing sentences of a room are functions in its `messages.py` (or in the files of a package
`messages`). `calls_of(module)` calls each of them: parameters get samples by the type of their annotation, a
text the parameter's own name in capitals. A function is called with the first sample of each parameter, then
once more for every further sample (both truth values, None, each word of a Literal, "" for an optional text).

Other types, and values that a sentence needs, are declared in `tests/ROOM/message_samples.py`:

    SAMPLES = {Platform: [some_platform], "wait_s": [0.5, 90.0], "not_bound.ranks": [2]}

by type, by parameter, or by function and parameter; the most specific one is used.
"""

from __future__ import annotations

import collections.abc
import errno
import importlib
import importlib.util
import inspect
import re
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Union

from hockney.core.errors import HockneyError, UsageError

HERE = Path(__file__).parent
PACKAGE = HERE.parent / "hockney"
Samples = Mapping[Any, collections.abc.Sequence[Any]]

MANY = (collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection, list, tuple)
SETS = (collections.abc.Set, set, frozenset)
MAPPINGS = (collections.abc.Mapping, dict)
SAMPLE_CODE = "sample"
"""The code of sample errors: messages that pass on their argument's code have none themselves."""
KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True)
class Call:
    """One message: `value` is what `function` returned for `arguments`."""

    function: str
    arguments: Mapping[str, Any]
    value: Any

    @property
    def code(self) -> str | None:
        """The stable code of an error or caveat; None for plain text."""
        code = getattr(self.value, "code", None)
        return code if isinstance(code, str) else None

    @property
    def text(self) -> str:
        lines = [f"  {line}" for line in rendered(self.value)]
        return "\n".join(lines)


def modules() -> list[Path]:
    """The files with messages."""
    files = {*PACKAGE.glob("**/messages.py"), *PACKAGE.glob("**/messages/*.py")}
    return sorted(file for file in files if file.name != "__init__.py")


def name_of(file: Path) -> str:
    """room/messages, room/messages/theme, room/part/messages."""
    return file.relative_to(PACKAGE).with_suffix("").as_posix()


def room_of(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0]


def calls_of(file: Path) -> list[Call]:
    """Every message of a file, function by function in the file's order."""
    module = importlib.import_module("hockney." + name_of(file).replace("/", "."))
    samples = declared(room_of(file))
    return [call for function in functions(module) for call in calls(function, samples)]


def functions(module: types.ModuleType) -> list[Callable[..., Any]]:
    """The public functions that the module itself defines."""
    members = [f for name, f in vars(module).items() if inspect.isfunction(f) and not name.startswith("_")]
    return [f for f in members if f.__module__ == module.__name__]


def calls(function: Callable[..., Any], samples: Samples) -> Iterator[Call]:
    hints = typing.get_type_hints(function)
    choices = {
        parameter.name: list(samples_for(function.__name__, parameter, hints.get(parameter.name), samples))
        for parameter in inspect.signature(function).parameters.values()
    }
    first = {name: values[0] for name, values in choices.items()}
    variants = [first]
    variants += [first | {name: value} for name, values in choices.items() for value in values[1:]]
    for arguments in variants:
        yield Call(function.__name__, arguments, invoke(function, arguments))


def invoke(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        value = arguments[parameter.name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional.append(value)
        elif parameter.kind is parameter.KEYWORD_ONLY:
            named[parameter.name] = value
        elif parameter.kind is not parameter.VAR_KEYWORD:
            positional.append(value)
    return function(*positional, **named)


def samples_for(function: str, parameter: inspect.Parameter, hint: Any, samples: Samples) -> Iterator[Any]:
    for key in (f"{function}.{parameter.name}", parameter.name):
        if key in samples:
            yield from samples[key]
            return
    if parameter.kind is parameter.VAR_KEYWORD:
        yield None
        return
    assert hint is not None, f"{function}: {parameter.name} has no type"
    yield from by_type(f"{function}.{parameter.name}", parameter.name.upper(), hint, samples)
    if parameter.default == "":
        yield ""


def by_type(place: str, name: str, hint: Any, samples: Samples) -> Iterator[Any]:
    """Samples of a type. A text is `name`."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if isinstance(hint, collections.abc.Hashable) and hint in samples:
        yield from samples[hint]
    elif origin in (Union, types.UnionType):
        some = [a for a in arguments if a is not types.NoneType]
        yield next(by_type(place, name, some[0], samples))
        if len(some) < len(arguments):
            yield None
    elif origin is Literal:
        yield from arguments
    elif (origin or hint) in MANY:
        yield sequence(place, name, origin or hint, arguments, samples)
    elif origin in SETS:
        yield {next(by_type(place, name, arguments[0], samples))}
    elif origin in MAPPINGS:
        yield {
            next(by_type(place, f"{name}_KEY", arguments[0], samples)): next(
                by_type(place, name, arguments[1], samples)
            )
        }
    elif hint in PLAIN:
        yield from PLAIN[hint](name)
    else:
        raise AssertionError(
            f"no sample for {place} of type {hint}: declare one in tests/ROOM/message_samples.py"
        )


def sequence(place: str, name: str, kind: Any, arguments: tuple[Any, ...], samples: Samples) -> Any:
    """Two elements; as many as its types for a tuple of fixed length."""
    fixed = kind is tuple and arguments and arguments[-1] is not Ellipsis
    hints = arguments if fixed else (arguments or (str,))[:1] * 2
    values = [next(by_type(place, f"{name}{k + 1}", hint, samples)) for k, hint in enumerate(hints)]
    return values if kind is list else tuple(values)


PLAIN: dict[Any, Callable[[str], list[Any]]] = {
    str: lambda name: [name],
    int: lambda name: [3],
    float: lambda name: [1.5],
    bool: lambda name: [False, True],
    Path: lambda name: [Path("/", name)],
    object: lambda name: [name],
    Any: lambda name: [name],
    OSError: lambda name: [OSError(errno.ENOSPC, "No space left on device")],
    Exception: lambda name: [ValueError(name)],
    HockneyError: lambda name: [UsageError("WHAT", "WHY", "REMEDY", code=SAMPLE_CODE)],
    UsageError: lambda name: [UsageError("WHAT", "WHY", "REMEDY", code=SAMPLE_CODE)],
}


def declared(room: str) -> Samples:
    """The room's own samples."""
    path = HERE / room / "message_samples.py"
    if not path.is_file():
        return {}
    spec = importlib.util.spec_from_file_location(f"message_samples_of_{room}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    samples: Samples = module.SAMPLES
    return samples


def rendered(value: Any) -> list[str]:
    """An error as its code, exit code and line; a caveat as its code and texts; text as it is."""
    if isinstance(value, HockneyError):
        return [f"[{value.code}] exit {int(value.exit_code)}", str(value)]
    if isinstance(value, str):
        return value.splitlines() or [""]
    if isinstance(value, Mapping):
        return [f"{key}: {line}" for key, item in value.items() for line in rendered(item)]
    if isinstance(value, list | tuple | types.GeneratorType):
        return [line for item in value for line in rendered(item)]
    code = getattr(value, "code", None)
    if isinstance(code, str):
        names = getattr(value, "__struct_fields__", None) or vars(value)
        texts = [getattr(value, name) for name in names if name != "code"]
        return [f"[{code}]", *(text for text in texts if isinstance(text, str) and text)]
    return [str(value)]
