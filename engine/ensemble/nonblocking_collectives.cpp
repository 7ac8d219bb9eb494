// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "ensemble/nonblocking_collectives.hpp"

namespace hockney::annealing {

NonblockingCollectives::NonblockingCollectives(Part& part, int depth)
    : part_(part),
      for_gathers_(duplicate(part.comm.handle)),
      for_broadcasts_(duplicate(part.comm.handle)),
      gathers_(static_cast<std::size_t>(depth)),
      broadcasts_(static_cast<std::size_t>(depth)) {
  if (part.comm.root())
    for (Gather& gather : gathers_) gather.received.resize(static_cast<std::size_t>(part.comm.size));
}

void NonblockingCollectives::give(const Statistics& statistics, bool answered) {
  Gather& gather = gathers_[given_++ % gathers_.size()];
  part_.wait_policy.finish(gather.request);  // collected long since
  gather.sent = statistics;
  start(gather);
  if (!answered || part_.comm.root()) return;
  start(broadcasts_[started_++ % broadcasts_.size()]);
}

const Statistics* NonblockingCollectives::collect(bool wait) {
  if (collected_ == given_) return nullptr;
  Gather& gather = gathers_[collected_ % gathers_.size()];
  if (!completed(gather.request, wait)) return nullptr;
  ++collected_;
  return gather.received.data();
}

void NonblockingCollectives::announce(const Schedule& schedule) {
  Broadcast& broadcast = broadcasts_[started_++ % broadcasts_.size()];
  part_.wait_policy.finish(broadcast.request);  // received long since
  broadcast.schedule = schedule;
  start(broadcast);
}

std::optional<Schedule> NonblockingCollectives::receive(bool wait) {
  if (received_ == started_) return std::nullopt;
  Broadcast& broadcast = broadcasts_[received_ % broadcasts_.size()];
  if (!completed(broadcast.request, wait)) return std::nullopt;
  ++received_;
  return broadcast.schedule;
}

void NonblockingCollectives::finish() {
  for (Gather& gather : gathers_) part_.wait_policy.finish(gather.request);
  for (Broadcast& broadcast : broadcasts_) part_.wait_policy.finish(broadcast.request);
}

bool NonblockingCollectives::completed(MPI_Request& request, bool wait) const {
  int done = 1;
  if (wait)
    part_.wait_policy.finish(request);
  else
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  return done != 0;
}

}  // namespace hockney::annealing
