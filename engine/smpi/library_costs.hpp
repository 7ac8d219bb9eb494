// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <simgrid/actor.h>

#include <cstdio>
#include <cstdlib>

namespace hockney::smpi {

// What the libraries for bulk synchronous programs cost a processor of a simulated machine besides messages,
// in seconds: of BSPlib for each put, get and message at its sender and at its receiver, for each superstep,
// and for each byte of the memory that it allocates for what arrives; of the BPRAM for each step. From
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

// A header only, since programs that users link with the libraries contain nothing else of this folder.
inline void spend(double seconds) {
  if (seconds > 0) sg_actor_sleep_for(seconds);
}

}  // namespace hockney::smpi
