// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include "base/clock.hpp"
#include "hockney/annealing/result.hpp"

namespace hockney::annealing {

enum class Spent { computation, posting, testing, waiting, balancing };

// Divides a rank's time among kinds: all time since the start belongs to the kind that was last begun, so the
// kinds add up to the elapsed time.
class Account final {
 public:
  void start() {
    seconds_.fill(0);
    start_ = last_ = now();
    kind_ = Spent::computation;
  }
  // Begins a kind, and returns the previous one.
  Spent begin(Spent kind) {
    const double time = now();
    seconds_[static_cast<std::size_t>(kind_)] += time - last_;
    last_ = time;
    const Spent before = kind_;
    kind_ = kind;
    return before;
  }
  // Seconds of the kind, excluding the current interval.
  double seconds(Spent kind) const { return seconds_[static_cast<std::size_t>(kind)]; }
  double since_start() const { return now() - start_; }

  // Ends the current interval and returns all times.
  Times times() {
    begin(kind_);
    return {seconds(Spent::computation), seconds(Spent::posting),   seconds(Spent::testing),
            seconds(Spent::waiting),     seconds(Spent::balancing), last_ - start_};
  }

 private:
  std::array<double, 5> seconds_{};
  double start_ = 0;
  double last_ = 0;
  Spent kind_ = Spent::computation;
};

// Charges the lifetime of this object to a kind.
class Spending final {
 public:
  Spending(Account& account, Spent kind) : account_(account), before_(account.begin(kind)) {}
  ~Spending() { account_.begin(before_); }
  Spending(const Spending&) = delete;
  Spending& operator=(const Spending&) = delete;

 private:
  Account& account_;
  const Spent before_;
};

}  // namespace hockney::annealing
