// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

namespace hockney {

// How a rank waits for another one: by polling, which has the lowest latency, or, where ranks outnumber the
// cores that they may use, by yielding its core to the awaited rank.
class WaitPolicy {
 public:
  // Collective: counts the ranks and the cores of each node.
  explicit WaitPolicy(MPI_Comm comm);
  explicit constexpr WaitPolicy(bool crowded) : crowded_(crowded) {}

  bool crowded() const { return crowded_; }

  // Returns when the request is complete.
  void finish(MPI_Request& request) const;
  void finish_all(int count, MPI_Request* requests) const;

  // MPI_Comm_dup and MPI_Barrier.
  MPI_Comm duplicate(MPI_Comm comm) const;
  void meet(MPI_Comm comm) const;
  // Whether `fine` is true on all ranks.
  bool on_all(bool fine, MPI_Comm comm) const;

  // Waits until `there()` is true; it reads memory, or makes MPI progress.
  template <class There>
  void until(There there) const {
    for (unsigned looked = 0; !there(); ++looked) pause(looked);
  }
  // Calls `help()` now and then if the wait is long.
  template <class There, class Help>
  void until(There there, Help help) const {
    for (unsigned looked = 0; !there(); ++looked) {
      pause(looked);
      if (looked >= looks_before_help && looked % looks_between_help == 0) help();
    }
  }

  // Whether `there()` became true within a limited number of polls.
  template <class There>
  bool for_a_while(There there) const {
    for (unsigned looked = 0; looked < looks_before_sleep; ++looked) {
      if (there()) return true;
      pause(looked);
    }
    return false;
  }

 private:
  static constexpr unsigned looks_before_sleep = 32;
  // Waits shorter than about 0.1 ms do not pay for it.
  static constexpr unsigned looks_before_help = 4096;
  static constexpr unsigned looks_between_help = 16;

  void pause(unsigned looked) const;

  bool crowded_;
};

// The ranks of a communicator on this node, the cores that those ranks may use together, whether all its
// ranks are on one node, and whether ranks outnumber cores on any of its nodes (counting the communicator's
// ranks or, if the launcher reports it, all ranks started there). The same on all ranks, since a blocking MPI
// call on one rank does not match a non-blocking one on another.
struct NodeLayout {
  int ranks;
  int cores;
  bool whole;
  bool crowded;
};
// Collective on the first call for a communicator.
NodeLayout layout_of_this_node(MPI_Comm comm);

}  // namespace hockney
