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

// Moments during a run, by the processor's counter where that runs at a constant rate: it is read in a
// quarter of the time of MPI_Wtime. Otherwise by MPI_Wtime.
class Counter {
 public:
  double read() const {
#ifdef HOCKNEY_COUNTER
    if (constant_) return static_cast<double>(__rdtsc());
#endif
    return now();
  }

  // The run that is read: after end(), seconds() is by the clock now().
  void begin() {
    began_s_ = now();
    began_ = read();
  }
  void end() {
    const double ended = read();
    const double seconds = now() - began_s_;
    scale_ = ended > began_ ? seconds / (ended - began_) : 1;
  }
  double seconds(double difference) const { return difference * scale_; }
  double moment_s(double moment) const { return began_s_ + seconds(moment - began_); }

 private:
#ifdef HOCKNEY_COUNTER
  // The bit "invariant TSC" (AMD64 Architecture Programmer's Manual, volume 3, appendix E.4.7).
  static bool has_constant_rate() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && d & 1u << 8;
  }
  const bool constant_ = has_constant_rate();
#endif
  double began_s_ = 0;
  double began_ = 0;
  double scale_ = 1;
};

}  // namespace hockney::npb
