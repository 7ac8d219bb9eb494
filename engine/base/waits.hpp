// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hockney {

// Whether ranks that wait for a moment, or compute for a preset time, sleep instead of keeping their
// processor busy. This is meant for hosts emulated on one machine, where ranks outnumber processors and a
// busy rank delays the messages of others. False until sleep_in_waits() is called, once, before anything is
// measured.
bool waits_asleep();
// Returns false if a library should have made MPI sleep in waits too ($HOCKNEY_WAIT_US), but was not loaded.
[[nodiscard]] bool sleep_in_waits();

// Sleeps for `seconds`, or some microseconds longer.
void sleep_for(double seconds);

}  // namespace hockney
