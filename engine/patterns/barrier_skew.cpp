// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/barriers.hpp"
#include "measure/parameters.hpp"

namespace hockney::patterns {
namespace {

class Skew final : public Pattern {
 public:
  Skew(const Place& place, const Values& values) : barrier_(chosen_barrier(place, values)) {}

  void run() override { barrier_->wait(); }

 private:
  const std::unique_ptr<Barrier> barrier_;
};

constexpr Parameter parameters[] = {parameters::algorithm, parameters::sync_barrier};

}  // namespace

extern constinit const Workload barrier_skew{"barrier_skew",
                                             "patterns",
                                             "how far apart the ranks leave a barrier",
                                             "from the first rank's exit to the last one's",
                                             1,
                                             0,
                                             Timing::exits,
                                             parameters,
                                             make<Skew>};

}  // namespace hockney::patterns
