// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "ensemble/nonblocking_collectives.hpp"

namespace hockney::annealing {

NonblockingCollectives::NonblockingCollectives(Part& part, int depth)
    : part_(part),
      gather_comm_(duplicate(part.comm.handle)),
      broadcast_comm_(duplicate(part.comm.handle)),
      gathers_(static_cast<std::size_t>(depth)),
      broadcasts_(static_cast<std::size_t>(depth)) {
  if (part.comm.root())
    for (Gather& gather : gathers_) gather.all_statistics.resize(static_cast<std::size_t>(part.comm.size));
}

void NonblockingCollectives::give(const Statistics& statistics, bool answered) {
  Gather& gather = gathers_[given_count_++ % gathers_.size()];
  part_.wait_policy.finish(gather.request);  // already collected
  gather.own_statistics = statistics;
  start(gather);
  if (!answered || part_.comm.root()) return;
  start(broadcasts_[started_++ % broadcasts_.size()]);
}

const Statistics* NonblockingCollectives::collect(bool wait) {
  if (collected_ == given_count_) return nullptr;
  Gather& gather = gathers_[collected_ % gathers_.size()];
  if (!completed(gather.request, wait)) return nullptr;
  ++collected_;
  return gather.all_statistics.data();
}

void NonblockingCollectives::announce(const Schedule& schedule) {
  Broadcast& broadcast = broadcasts_[started_++ % broadcasts_.size()];
  part_.wait_policy.finish(broadcast.request);  // already received
  broadcast.schedule = schedule;
  start(broadcast);
}

std::optional<Schedule> NonblockingCollectives::receive(bool wait) {
  if (received_count_ == started_) return std::nullopt;
  Broadcast& broadcast = broadcasts_[received_count_ % broadcasts_.size()];
  if (!completed(broadcast.request, wait)) return std::nullopt;
  ++received_count_;
  return broadcast.schedule;
}

void NonblockingCollectives::finish() {
  for (Gather& gather : gathers_) part_.wait_policy.finish(gather.request);
  for (Broadcast& broadcast : broadcasts_) part_.wait_policy.finish(broadcast.request);
}

bool NonblockingCollectives::completed(MPI_Request& request, bool wait) const {
  int is_complete = 1;
  if (wait)
    part_.wait_policy.finish(request);
  else
    MPI_Test(&request, &is_complete, MPI_STATUS_IGNORE);
  return is_complete != 0;
}

}  // namespace hockney::annealing
