// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// Computing on a simulated machine, which messages slow down if they take the processor's time, and detours
// of the core if it is noisy.
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
  const std::size_t rank = smpi::rank_of_actor(sg_actor_self_get_pid());
  double end = processor->end_of(rank, processor->free_at(simgrid_get_clock()), seconds);
  for (;;) {
    sg_actor_sleep_until(end);
    const double has_more = processor->additional_time(end);
    if (!(has_more > 0)) return;
    end = processor->end_of(rank, end, has_more);
  }
}

}  // namespace hockney
