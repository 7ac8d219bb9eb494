// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// Computing on a simulated machine, which messages slow down if they take the processor's time.
#include "smpi/processor.hpp"

#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>

namespace hockney {

// Declared in base/clock.hpp, which must not include this folder.
void pass(double seconds);
void pass(double seconds) {
  if (!(seconds > 0)) return;
  auto* const processor = static_cast<smpi::Processor*>(sg_host_get_data(sg_host_self()));
  if (!processor) {
    sg_actor_sleep_for(seconds);
    return;
  }
  double end = processor->free_at(simgrid_get_clock()) + seconds;
  for (double has_more = seconds; has_more > 0; end += has_more) {
    sg_actor_sleep_until(end);
    has_more = processor->additional_time(end);
  }
}

}  // namespace hockney
