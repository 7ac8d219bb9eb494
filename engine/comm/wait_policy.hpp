// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

namespace hockney {

// How a rank waits for another one: by watching, which answers soonest, or, where ranks outnumber the cores
// that they may use, by giving its core to whom it waits for.
class WaitPolicy {
 public:
  // Collective: counts the ranks and the cores of each node.
  explicit WaitPolicy(MPI_Comm comm);
  explicit constexpr WaitPolicy(bool crowded) : crowded_(crowded) {}

  bool crowded() const { return crowded_; }

  // Until the request is complete.
  void finish(MPI_Request& request) const;
  void finish_all(int count, MPI_Request* requests) const;

  // MPI_Comm_dup and MPI_Barrier.
  MPI_Comm duplicate(MPI_Comm comm) const;
  void meet(MPI_Comm comm) const;
  // Whether it is `fine` on all ranks.
  bool on_all(bool fine, MPI_Comm comm) const;

  // Until `there()`; looks at memory, or makes MPI look at its network.
  template <class There>
  void until(There there) const {
    for (unsigned looked = 0; !there(); ++looked) pause(looked);
  }
  // Calls `help()` now and then where that takes long.
  template <class There, class Help>
  void until(There there, Help help) const {
    for (unsigned looked = 0; !there(); ++looked) {
      pause(looked);
      if (looked >= looks_before_help && looked % looks_between_help == 0) help();
    }
  }

  // Whether `there()`, after looking a number of times.
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
  // What takes less than 0.1 ms or so pays nothing for it.
  static constexpr unsigned looks_before_help = 4096;
  static constexpr unsigned looks_between_help = 16;

  void pause(unsigned looked) const;

  bool crowded_;
};

// Ranks of a communicator on this node, the cores that those ranks may use together, whether all its ranks
// are on one node, and whether on any of its nodes ranks outnumber cores, its own or, where the launcher says
// how many it has started there, all of them: the same on all ranks, since a blocking call of MPI on one rank
// and a non-blocking one on another may not meet.
struct NodeLayout {
  int ranks;
  int cores;
  bool whole;
  bool crowded;
};
// Collective where the communicator was not asked for before.
NodeLayout layout_of_this_node(MPI_Comm comm);

}  // namespace hockney
