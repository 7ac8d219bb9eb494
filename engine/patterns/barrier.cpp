// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/parameters.hpp"
#include "measure/workload.hpp"

namespace hockney::patterns {
namespace {

class Barrier final : public Pattern {
 public:
  explicit Barrier(const Comm& comm) : comm_(comm) {}

  void run() override { MPI_Barrier(comm_.handle); }

 private:
  const Comm& comm_;
};

constexpr Parameter parameters[] = {parameters::sync};

}  // namespace

extern constinit const Workload barrier{"barrier",
                                        "patterns",
                                        "MPI_Barrier",
                                        "the longest over the ranks",
                                        1,
                                        0,
                                        Timing::longest,
                                        parameters,
                                        [](const Place& place, const Values&) -> std::unique_ptr<Pattern> {
                                          return std::make_unique<Barrier>(place.comm);
                                        }};

}  // namespace hockney::patterns
