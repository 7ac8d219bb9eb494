// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>

namespace hockney::smpi {

// What the processor of a simulated node does for the node's messages besides the calls of MPI: interrupts
// and protocols of the operating system. This work takes precedence over the program, and is done one message
// after the other. The plug-in adds it when a message sets out; the program, which is another library in the
// same process, finds this object as the user data of its host.
class Processor {
 public:
  // `seconds` of work that comes up at `moment`, now or later.
  void add(double moment, double seconds) {
    if (seconds > 0) coming_.emplace(moment, seconds);
  }

  // When a program that has not computed until `now` can continue: after the work that has come up by then,
  // and what comes up during that work.
  double free(double now) {
    while (!coming_.empty() && coming_.begin()->first <= std::max(now, free_)) {
      free_ = std::max(free_, coming_.begin()->first) + coming_.begin()->second;
      coming_.erase(coming_.begin());
    }
    return std::max(now, free_);
  }

  // How much longer a program has to compute that, without further work, would have ended at `end`, which is
  // now.
  double taken(double end) {
    double seconds = 0;
    for (; !coming_.empty() && coming_.begin()->first < end; coming_.erase(coming_.begin()))
      seconds += coming_.begin()->second;
    return seconds;
  }

 private:
  std::multimap<double, double> coming_;  // moments and seconds, in order
  double free_ = 0;                       // the end of the work that has been done or is being done
};

}  // namespace hockney::smpi
