// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(HOCKNEY_SMPI)
#define HOCKNEY_COUNTER
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace hockney::npb {

// Clock for times during a run. Uses the processor's counter if that runs at a constant rate, because reading
// it takes a quarter of the time of MPI_Wtime; otherwise MPI_Wtime.
class Counter {
 public:
  double read() const {
#ifdef HOCKNEY_COUNTER
    if (constant_) return static_cast<double>(__rdtsc());
#endif
    return now();
  }

  // Start and end a run; after end(), seconds() converts to the clock now().
  void begin() {
    start_s_ = now();
    start_ = read();
  }
  void end() {
    const double ended = read();
    const double seconds = now() - start_s_;
    scale_ = ended > start_ ? seconds / (ended - start_) : 1;
  }
  double seconds(double difference) const { return difference * scale_; }
  double moment_s(double time) const { return start_s_ + seconds(time - start_); }

 private:
#ifdef HOCKNEY_COUNTER
  // The bit "invariant TSC" (AMD64 Architecture Programmer's Manual, volume 3, appendix E.4.7).
  static bool has_constant_rate() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && d & 1u << 8;
  }
  const bool constant_ = has_constant_rate();
#endif
  double start_s_ = 0;
  double start_ = 0;
  double scale_ = 1;
};

}  // namespace hockney::npb
