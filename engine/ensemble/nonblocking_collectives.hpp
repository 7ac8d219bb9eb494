// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "ensemble/channel.hpp"
#include "ensemble/duplicate.hpp"
#include "ensemble/part.hpp"

namespace hockney::annealing {

// A broadcast for each schedule and a gather for each round's statistics, which overlap. Broadcasts and
// gathers have separate communicators, because the ranks start them in different orders: the master's
// broadcast needs complete statistics, the other ranks start theirs in advance.
class NonblockingCollectives : public Channel {
 public:
  // Collective. At most `depth` operations of each kind are in flight.
  NonblockingCollectives(Part& part, int depth);

  void give(const Statistics& statistics, bool answered) final;
  const Statistics* collect(bool wait) final;
  void announce(const Schedule& schedule) final;
  std::optional<Schedule> receive(bool wait) final;
  void finish() final;

 protected:
  // Operations in slot `slot`, 0 to depth - 1.
  struct Gather {
    Statistics own_statistics;
    std::vector<Statistics> all_statistics;  // on the master
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct Broadcast {
    Schedule schedule;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  const MessageTypes& types() const { return types_; }
  MPI_Comm gather_comm() const { return gather_comm_.handle; }
  MPI_Comm broadcast_comm() const { return broadcast_comm_.handle; }
  std::vector<Gather>& gathers() { return gathers_; }
  std::vector<Broadcast>& broadcasts() { return broadcasts_; }

 private:
  virtual void start(Gather& gather) = 0;
  virtual void start(Broadcast& broadcast) = 0;
  bool completed(MPI_Request& request, bool wait) const;

  Part& part_;
  const MessageTypes types_;
  const Comm gather_comm_;
  const Comm broadcast_comm_;
  std::vector<Gather> gathers_;
  std::vector<Broadcast> broadcasts_;
  std::size_t given_count_ = 0, collected_ = 0;   // gathers
  std::size_t started_ = 0, received_count_ = 0;  // broadcasts
};

}  // namespace hockney::annealing
