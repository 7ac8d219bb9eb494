// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

namespace hockney {

// How a rank waits for another rank: by polling, which has the lowest latency, or, if ranks outnumber the
// cores that they may use, by yielding its core.
class WaitPolicy {
 public:
  // Collective: counts the ranks and the cores of each node.
  explicit WaitPolicy(MPI_Comm comm);
  explicit constexpr WaitPolicy(bool oversubscribed) : oversubscribed_(oversubscribed) {}

  bool oversubscribed() const { return oversubscribed_; }

  // Waits until the request is complete.
  void finish(MPI_Request& request) const;
  void finish_all(int count, MPI_Request* requests) const;

  // Nonblocking equivalents of MPI_Comm_dup and MPI_Barrier.
  MPI_Comm duplicate(MPI_Comm comm) const;
  void meet(MPI_Comm comm) const;
  // Whether `condition` is true on all ranks.
  bool all_agree(bool condition, MPI_Comm comm) const;

  // Waits until `there()` is true; `there` reads memory, or makes MPI progress.
  template <class Predicate>
  void until(Predicate there) const {
    for (unsigned polls = 0; !there(); ++polls) pause(polls);
  }
  // Calls `help()` occasionally if the wait is long.
  template <class Predicate, class Help>
  void until(Predicate there, Help help) const {
    for (unsigned polls = 0; !there(); ++polls) {
      pause(polls);
      if (polls >= polls_before_help && polls % polls_between_help == 0) help();
    }
  }

  // Whether `there()` became true within a limited number of polls.
  template <class Predicate>
  bool poll_briefly(Predicate there) const {
    for (unsigned polls = 0; polls < polls_before_sleep; ++polls) {
      if (there()) return true;
      pause(polls);
    }
    return false;
  }

 private:
  static constexpr unsigned polls_before_sleep = 32;
  // Shorter waits, up to about 0.1 ms, are not worth a call.
  static constexpr unsigned polls_before_help = 4096;
  static constexpr unsigned polls_between_help = 16;

  void pause(unsigned polls) const;

  bool oversubscribed_;
};

// The ranks of a communicator on this node; the cores that these ranks may use together; whether all ranks of
// the communicator are on one node; and whether ranks outnumber cores on any of its nodes (counting the
// communicator's ranks or, if the launcher reports it, all ranks started there). The same on all ranks, since
// a blocking MPI call on one rank does not match a nonblocking one on another.
struct NodeLayout {
  int ranks;
  int cores;
  bool on_one_node;
  bool oversubscribed;
};
// Collective on the first call for a communicator.
NodeLayout local_node_layout(MPI_Comm comm);

}  // namespace hockney
