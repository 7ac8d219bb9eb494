// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/choice.hpp"
#include "measure/collective_data.hpp"
#include "measure/parameters.hpp"

namespace hockney::patterns {
namespace {

class Scan final : public ScanBase {
 public:
  Scan(const Place& place, const Values& values)
      : ScanBase(place, values), call_(chosen_call<operation::scan>(values, MPI_Scan)) {}

  // Calls MPI_Scan, or a file of coll/scan.
  void run() override {
    call_(outgoing_.next(), incoming_.next(), elements(), MPI_DOUBLE, sum(), comm_.handle);
  }

 private:
  operation::scan::Call* const call_;
};

constexpr Parameter scan_parameters[] = {parameters::algorithm_of<operation::scan>, parameters::vector_bytes,
                                         parameters::buffers, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo scan{
    .name = "scan",
    .role = "collective",
    .operation = "scan",
    .size = "bytes",
    .help = "MPI_Scan, MPI_SUM of doubles",
    .time = "the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = scan_parameters,
    .make = make<Scan>,
};

}  // namespace hockney::patterns
