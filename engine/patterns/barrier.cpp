// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/barriers.hpp"
#include "measure/parameters.hpp"

namespace hockney::patterns {
namespace {

class InARow final : public Pattern {
 public:
  InARow(const Place& place, const Values& values)
      : barrier_(chosen_barrier(place, values)),
        iterations_(static_cast<int>(values.integer("iterations"))) {}

  void run() override { barrier_->wait(); }
  int in_a_row() const override { return iterations_; }

 private:
  const std::unique_ptr<Barrier> barrier_;
  const int iterations_;
};

constexpr Parameter parameters[] = {parameters::algorithm,
                                    {"iterations", Kind::integer, "", "1", 1, 1e9, "",
                                     "in a row between two readings of the clock, at least"},
                                    parameters::sync};

}  // namespace

extern constinit const Workload barrier{"barrier",
                                        "patterns",
                                        "MPI_Barrier, or a barrier of ours",
                                        "the longest over the ranks",
                                        1,
                                        0,
                                        Timing::longest,
                                        parameters,
                                        make<InARow>};

}  // namespace hockney::patterns
