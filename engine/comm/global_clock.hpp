// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "comm/comm.hpp"

namespace hockney {

// A rank's role in one round of measuring offsets. The ranks form a binomial tree, as in HCA (Hunold and
// Carpen-Amarie, "Hierarchical Clock Synchronization in MPI", 2018): in round k, each of the first 2^k ranks,
// which are already synchronised with rank 0, synchronises one more rank. P ranks therefore need log2 P
// rounds instead of P - 1.
struct ClockStep {
  enum Role { idle, client, server };
  Role role = idle;
  int partner = 0;
};
ClockStep clock_step(int rank, int ranks, int round);
int clock_rounds(int ranks);

// Rank 0's clock, computed on each rank from its own clock.
// Offsets come from ping-pongs with a rank that is already synchronised with rank 0: the shortest round trip
// bounds the offset best (Cristian 1989). A straight line through offsets measured at different moments
// yields the drift. Each rank has a separate line; its error is the sum of the errors of the at most log2 P
// ranks between it and rank 0. If MPI_WTIME_IS_GLOBAL is set, no messages are sent.
class GlobalClock {
 public:
  // Whether MPI_Wtime is one clock for all ranks (MPI_WTIME_IS_GLOBAL).
  static bool is_global();

  // Measures the offsets again and refits the model. Collective.
  void synchronise(const Comm& comm);

  // Maximum difference over all ranks, in seconds, between the model and a fresh measurement; valid on rank
  // 0. Collective.
  double residual(const Comm& comm) const;

  double to_global(double local) const { return local + offset_ + drift_ * (local - reference_); }
  // Inverse of to_global, to first order in the drift (1e-4 at worst, so exact to 1e-8 of the offset).
  double to_local(double global) const {
    const double local = global - offset_;
    return local - drift_ * (local - reference_);
  }

 private:
  struct Sample {
    double local;
    double offset;
  };
  // Measures every rank's current offset. Collective.
  static Sample measure(const Comm& comm);
  static void answer(const Comm& comm, int partner, double offset);
  static Sample ask(const Comm& comm, int partner);
  void fit();

  std::vector<Sample> samples_;
  double offset_ = 0;
  double drift_ = 0;
  double reference_ = 0;
};

}  // namespace hockney
