// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <simgrid/actor.h>

#include <cstdio>
#include <cstdlib>

namespace hockney::smpi {

// Processor time, in seconds, that libraries for bulk synchronous programs need on a simulated machine in
// addition to messages. For BSPlib: for each put, get and message at its sender and at its receiver, for each
// superstep, and for each byte of memory allocated for received data; for the BPRAM: for each step. From
// HOCKNEY_LIBRARY_COSTS, five numbers in this order.
struct LibraryCosts {
  double write = 0;
  double read = 0;
  double superstep = 0;
  double buffer_per_byte = 0;
  double step = 0;

  bool of_bsp() const { return write > 0 || read > 0 || superstep > 0 || buffer_per_byte > 0; }
};

inline const LibraryCosts& library_costs() {
  // Read once and never changed, so all ranks may share it.
  static const LibraryCosts costs = [] {
    LibraryCosts found;
    if (const char* const text = std::getenv("HOCKNEY_LIBRARY_COSTS"))
      std::sscanf(text, "%lf %lf %lf %lf %lf", &found.write, &found.read, &found.superstep,
                  &found.buffer_per_byte, &found.step);
    return found;
  }();
  return costs;
}

// Header-only, since programs that users link with the libraries contain nothing else from this folder.
inline void spend(double seconds) {
  if (seconds > 0) sg_actor_sleep_for(seconds);
}

}  // namespace hockney::smpi
