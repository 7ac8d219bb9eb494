# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Formulas in a description of a program, such as "n^2 / ranks * 2.3ns". They consist of numbers with units,
names of the problem's sizes and of ranks, + - * / // % ^, comparisons, `a if b else c`, and a few
functions."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from hockney.core.errors import UsageError, printable, unknown
from hockney.core.units import parse_bytes, parse_quantity, parse_seconds
from hockney.core.wording import plural

FormulaKind = Literal["time", "size", "quantity", "number"]
Number = float | np.ndarray
Names = Mapping[str, Number]
"""Values of the names in a formula: one number for all ranks, or one per rank."""

MAX_LENGTH = 500
_QUANTITY = re.compile(r"(?<![\w.])((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)([A-Za-zµ]+)?")
_PARSERS: Mapping[FormulaKind, Callable[[str], float]] = {
    "time": parse_seconds,
    "size": parse_bytes,
    "quantity": parse_quantity,
}
_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.FloorDiv: np.floor_divide,
    ast.Mod: np.mod,
    ast.Pow: np.power,
}
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
}
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "sqrt": np.sqrt,
    "cbrt": np.cbrt,
    "log2": np.log2,
    "log": np.log,
    "ceil": np.ceil,
    "floor": np.floor,
    "abs": np.abs,
    "min": np.minimum,
    "max": np.maximum,
}


@dataclass(frozen=True)
class Formula:
    """A formula with its `text` as typed. `kind` determines which units its numbers may have: seconds, bytes,
    either (a quantity) or none. `key` is its position in the description."""

    text: str
    kind: FormulaKind
    key: str = field(default="", compare=False)

    @cached_property
    def _tree(self) -> ast.expr:
        """The parsed formula. Raises UsageError."""
        if len(self.text) > MAX_LENGTH:
            raise self._error(f"it has more than {MAX_LENGTH} characters")
        without_units = _QUANTITY.sub(self._plain_number, self.text).replace("^", "**")
        try:
            return ast.parse(without_units.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise self._error("it is not complete, or an operator such as * is missing") from None

    def _plain_number(self, match: re.Match[str]) -> str:
        number, unit = match.groups()
        if unit is None:
            return f"{float(number)!r}"
        parse = _PARSERS.get(self.kind)
        if parse is None:
            raise self._error(f"{match[0]} has a unit; between a number and a name write *")
        try:
            return f"{float(parse(match[0]))!r}"
        except UsageError as error:
            raise self._with_location(error) from None

    def value(self, names: Names) -> Number:
        """The value, an array if it depends on the rank. Raises UsageError for unknown names and for values
        that are negative or not finite."""
        with np.errstate(all="ignore"):
            try:
                result = self._evaluate(self._tree, names)
            except RecursionError:
                raise self._error("it is nested too deeply") from None
        impossible = np.ravel(result)[~(np.isfinite(result) & np.greater_equal(result, 0)).ravel()]
        if len(impossible):
            raise self._impossible_value(float(impossible[0]), names)
        return float(result) if np.ndim(result) == 0 else np.asarray(result, dtype=float)

    def _evaluate(self, node: ast.expr, names: Names) -> Any:
        match node:
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                return float(number)
            case ast.Name(id=name):
                if name not in names:
                    raise self._unknown_name(name, names)
                return names[name]
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                value = self._evaluate(operand, names)
                return -value if isinstance(node.op, ast.USub) else value
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
                return _OPERATORS[type(operator)](self._evaluate(left, names), self._evaluate(right, names))
            case ast.Compare(left=left, ops=[comparison], comparators=[right]) if (
                type(comparison) in _COMPARISONS
            ):
                compare = _COMPARISONS[type(comparison)]
                return 1.0 * compare(self._evaluate(left, names), self._evaluate(right, names))
            case ast.IfExp(test=test, body=body, orelse=other):
                condition_and_body = self._evaluate(test, names), self._evaluate(body, names)
                return np.where(condition_and_body[0], condition_and_body[1], self._evaluate(other, names))
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                return self._call(name, [self._evaluate(each, names) for each in arguments])
        raise self._error("only numbers, names, operators and functions are allowed")

    def _call(self, name: str, arguments: list[Any]) -> Any:
        function = FUNCTIONS.get(name)
        if function is None:
            raise self._with_location(unknown("function", name, FUNCTIONS, code="unknown-function"))
        expected_count = 2 if name in ("min", "max") else 1
        if len(arguments) != expected_count:
            raise self._error(f"{name} has {expected_count} argument{'s' if expected_count > 1 else ''}")
        return function(*arguments)

    def _unknown_name(self, name: str, names: Names) -> UsageError:
        error = unknown(
            "name",
            name,
            names,
            f"define it under [sizes]; available: {', '.join(names)}",
            code="unknown-name",
        )
        return self._with_location(error)

    def _impossible_value(self, value: float, names: Names) -> UsageError:
        ranks = round(float(np.max(names.get("ranks", 0))))
        where = f" on {plural(ranks, 'rank')}" if ranks else ""
        is_single_rank = ranks == 1 and "rank" in self.text
        return self._error(
            f"a {self.kind} is at least 0, and finite",
            f"is {value:g}{where}",
            'add for example "if ranks > 1 else 0"' if is_single_rank else "change the formula",
        )

    def _with_location(self, error: UsageError) -> UsageError:
        error.fields.update(self._fields)
        return error.with_context(f"'{printable(self.text)}'")

    @property
    def _fields(self) -> dict[str, str]:
        return {"text": self.text} | ({"key": self.key} if self.key else {})

    def _error(self, why: str, problem: str = "", remedy: str = "") -> UsageError:
        example = {"time": '"n^2 / ranks * 2.3ns"', "size": '"8 * n / px"'}.get(self.kind, '"n / 2"')
        return UsageError(
            f"'{printable(self.text)}' {problem or f'is not a formula of a {self.kind}'}",
            why,
            remedy or f"use for example {example}",
            code="bad-formula",
            **self._fields,
        )


ONE = Formula("1", "number")
