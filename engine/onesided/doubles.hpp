// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <climits>

#include "onesided/one_sided_base.hpp"
#include "onesided/operator.hpp"

namespace hockney::onesided {

// Base class of accumulating operations: an operator and vectors of doubles with integer values, so that sums
// are exact. The target holds a vector multiplied by its rank + 1, and the origin contributes the same vector
// multiplied by its own rank + 1.
class AccumulateBase : public OneSidedBase {
 public:
  AccumulateBase(const Place& place, const Values& values, Needs needs)
      : OneSidedBase(place, values, doubles(values), needs),
        count_(static_cast<int>(values.bytes() / sizeof(double))),
        operator_(values) {}

  void fill(const Payload& payload) override {
    if (origin()) write_reduction(outgoing(), payload.seed, comm_.rank);
    if (target()) write_reduction(memory(), payload.seed, comm_.rank);
  }

  // The expected value after a single epoch.
  Check verify(const Payload& payload) override {
    make_visible();
    if (!target()) return {};
    const double scale =
        operator_.replaces ? partner_ + 1 : comm_.rank + 1 + (operator_.sums ? partner_ + 1 : 0);
    return check_reduced(memory(), payload, 0, scale, "what was accumulated");
  }

  // Each epoch adds to the result of the previous one.
  bool keeps_payload() const override { return false; }

 protected:
  const int count_;
  const Operator operator_;

 private:
  static std::uint64_t doubles(const Values& values) {
    const std::uint64_t bytes = values.bytes();
    if (bytes % sizeof(double) != 0)
      throw InvalidCase("bytes=" + std::to_string(bytes) + " is no multiple of 8 (it accumulates doubles)");
    if (bytes / sizeof(double) > INT_MAX)
      throw InvalidCase("bytes=" + std::to_string(bytes) + " is more doubles than an MPI count can hold");
    return bytes;
  }
};

}  // namespace hockney::onesided
