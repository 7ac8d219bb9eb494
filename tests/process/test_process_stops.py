# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that end by themselves on request."""

from __future__ import annotations

import signal

import pytest

from hockney.process import stops


def test_nothing_can_be_asked_if_no_program_runs():
    assert not stops.request_stop()


def test_a_program_that_cannot_be_asked(tmp_path):
    """Its file is not there yet."""
    with stops.stoppable(tmp_path / "stop"):
        assert not stops.request_stop()
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


@pytest.mark.parametrize("error", [None, ValueError, KeyboardInterrupt])
def test_a_request_interrupts_after_the_program(tmp_path, error):
    """However it ended; the time that it has is limited meanwhile."""
    file = tmp_path / "stop"
    file.touch()
    with pytest.raises(KeyboardInterrupt), stops.stoppable(file):
        assert stops.request_stop()
        assert file.stat().st_size > 0
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= stops.STOP_TIMEOUT_S
        if error is not None:
            raise error
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
    with stops.stoppable(file):
        pass  # the next one was not asked


def test_of_two_programs_the_last_one_interrupts(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    first.touch()
    second.touch()
    ended = []
    with pytest.raises(KeyboardInterrupt), stops.stoppable(first):
        with stops.stoppable(second):
            assert stops.request_stop()
        ended.append(second)
    assert ended and first.stat().st_size and second.stat().st_size
