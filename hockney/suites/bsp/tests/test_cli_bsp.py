# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What the studies of bulk synchronous models print, on the fake machine."""

from __future__ import annotations

import json

import pytest

QUICK = ("--machine", "fake", "--ranks", "2,4", "--launches", "2", "--seed", "1", "-q")
KERNELS = ("n=64", "keys=512")


def test_the_parameters_are_printed(hockney, golden):
    said = hockney("run", "bsp-parameters", *QUICK, "--out", "runs/p")
    assert said.code == 0, said.err
    golden("run_bsp_parameters.txt", said.out)


def test_the_errors_of_the_kernels_are_printed(hockney, golden):
    said = hockney("run", "bsp-kernels", *KERNELS, *QUICK, "--out", "runs/k")
    assert said.code == 0, said.err
    golden("run_bsp_kernels.txt", said.out)


@pytest.mark.parametrize(
    ("words", "keys"),
    [
        (("bsp-parameters",), {"parameters", "methods", "combining", "rates"}),
        (("bsp-kernels", *KERNELS), {"kernels", "median_error"}),
    ],
)
def test_json_has_the_answer(hockney, words, keys):
    said = hockney("run", *words, *QUICK, "--out", "runs/j", "--json")
    assert said.code == 0 and set(json.loads(said.out)["answer"]) == keys


def test_an_unknown_kernel_or_style_is_an_error(hockney):
    for words, code in ((("kernels=quick_sort",), "unknown-kernel"), (("styles=pram",), "unknown-style")):
        said = hockney("run", "bsp-kernels", *words, *QUICK)
        assert said.code == 2 and said.error.code == code
