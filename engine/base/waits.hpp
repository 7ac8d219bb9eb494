// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hockney {

// Whether ranks that wait for a moment, or compute for a preset time, sleep instead of keeping their
// processor busy. For hosts that are emulated on one, whose ranks outnumber its processors: there a rank that
// keeps one busy delays the messages of the others; on separate hosts it does not. False until
// sleep_in_waits() is called, once, before anything is measured.
bool waits_asleep();
// False if a library is to make MPI wait asleep too ($HOCKNEY_WAIT_US), and it was not loaded.
[[nodiscard]] bool sleep_in_waits();

// Sleeps for `seconds`, and some microseconds longer.
void sleep_for(double seconds);

}  // namespace hockney
