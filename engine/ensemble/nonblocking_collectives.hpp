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
// gathers have separate communicators, because the ranks begin them in different orders: the master's
// broadcast needs complete statistics, the other ranks begin theirs ahead.
class NonblockingCollectives : public Channel {
 public:
  // Collective. Of each kind at most `depth` are under way: the number of rounds that two ranks can be apart,
  // and one.
  NonblockingCollectives(Part& part, int depth);

  void give(const Statistics& statistics, bool answered) final;
  const Statistics* collect(bool wait) final;
  void announce(const Schedule& schedule) final;
  std::optional<Schedule> receive(bool wait) final;
  void finish() final;

 protected:
  // Everything in place `slot`, 0 to depth - 1.
  struct Gather {
    Statistics sent;
    std::vector<Statistics> received;  // on the master
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct Broadcast {
    Schedule schedule;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  const MessageTypes& types() const { return types_; }
  MPI_Comm for_gathers() const { return for_gathers_.handle; }
  MPI_Comm for_broadcasts() const { return for_broadcasts_.handle; }
  std::vector<Gather>& gathers() { return gathers_; }
  std::vector<Broadcast>& broadcasts() { return broadcasts_; }

 private:
  virtual void start(Gather& gather) = 0;
  virtual void start(Broadcast& broadcast) = 0;
  bool completed(MPI_Request& request, bool wait) const;

  Part& part_;
  const MessageTypes types_;
  const Comm for_gathers_;
  const Comm for_broadcasts_;
  std::vector<Gather> gathers_;
  std::vector<Broadcast> broadcasts_;
  std::size_t given_ = 0, collected_ = 0;   // gathers
  std::size_t started_ = 0, received_ = 0;  // broadcasts
};

}  // namespace hockney::annealing
