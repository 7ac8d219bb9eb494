# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Takes a core at a fixed rate: python noise_generator.py CORE HERTZ SECONDS_EACH

With real-time priority if the system allows it. On SIGTERM, prints the fraction of the times at which it was
late by more than a tenth of the period."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time


def main(core: int, hertz: float, each_s: float) -> None:
    os.sched_setaffinity(0, {core})
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    stopped = False

    def stop(*_: object) -> None:
        nonlocal stopped
        stopped = True

    signal.signal(signal.SIGTERM, stop)
    print("started", flush=True)
    start, count, late = time.monotonic(), 0, 0
    while not stopped:
        count += 1
        moment = start + count / hertz
        time.sleep(max(0.0, moment - time.monotonic()))
        late += time.monotonic() - moment > 0.1 / hertz
        until = time.monotonic() + each_s
        while time.monotonic() < until:
            pass
    print(late / max(1, count), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]))
