// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>

#include "smpi/core_detours.hpp"

namespace hockney::smpi {

// smpirun starts the ranks in order, as the actors 1, 2, ...
inline std::size_t rank_of_actor(long actor) {
  return static_cast<std::size_t>(actor - 1);
}

// The work of a simulated node's processor for the node's messages in addition to the calls of MPI:
// interrupts and protocols of the operating system. This work takes precedence over the program, one message
// after the other. The plug-in adds it when a message departs; the program, which is another library in the
// same process, finds this object as the user data of its host. Detours of the node's cores delay programs
// and calls too.
class Processor {
 public:
  Processor(std::size_t node, const CoreDetours* detours) : node_(node), detours_(detours) {}

  // When work of `seconds` by a rank, which can begin at `start`, ends in spite of the detours of its core.
  double end_of(std::size_t rank, double start, double seconds) const {
    return detours_->empty() ? start + seconds : detours_->end_of(node_, rank, start, seconds);
  }

  // Adds `seconds` of work that arises at `moment`, now or later.
  void add(double moment, double seconds) {
    if (seconds > 0) pending_work_.emplace(moment, seconds);
  }

  // The time at which a program that has not computed until `now` can continue: after the work that has
  // arisen by then, and any work that arises meanwhile.
  double free_at(double now) {
    while (!pending_work_.empty() && pending_work_.begin()->first <= std::max(now, free_at_)) {
      free_at_ = std::max(free_at_, pending_work_.begin()->first) + pending_work_.begin()->second;
      pending_work_.erase(pending_work_.begin());
    }
    return std::max(now, free_at_);
  }

  // Additional time that a program must compute which would have ended at `end`, the current time, without
  // this work.
  double additional_time(double end) {
    double seconds = 0;
    for (; !pending_work_.empty() && pending_work_.begin()->first < end;
         pending_work_.erase(pending_work_.begin()))
      seconds += pending_work_.begin()->second;
    return seconds;
  }

 private:
  std::size_t node_;
  const CoreDetours* detours_;
  std::multimap<double, double> pending_work_;  // moments and seconds, in order
  double free_at_ = 0;                          // end of the work that is done or in progress
};

}  // namespace hockney::smpi
