// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "comm/comm.hpp"

namespace hockney {

// Rank 0's clock, as every rank can compute it from its own.
//
// Offsets come from ping-pongs with rank 0: of many, the one with the shortest round trip bounds the offset
// best (Cristian 1989). Offsets measured at different moments give the drift by a straight line. Each rank
// keeps its own line. Where MPI says that MPI_Wtime is one clock for all (MPI_WTIME_IS_GLOBAL), nothing is
// sent.
class GlobalClock {
 public:
  // Whether MPI says that MPI_Wtime is one clock for all ranks (MPI_WTIME_IS_GLOBAL).
  static bool given();

  // Collective: measure once more and refit.
  void synchronise(const Comm& comm);

  // Collective: the largest difference between the model and a fresh measurement (s), on rank 0 over all
  // ranks.
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
  static Sample measure(const Comm& comm);
  void fit();

  std::vector<Sample> samples_;
  double offset_ = 0;
  double drift_ = 0;
  double reference_ = 0;
};

}  // namespace hockney
