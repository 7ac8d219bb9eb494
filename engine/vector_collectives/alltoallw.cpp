// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "vector_collectives/exchange_base.hpp"

namespace hockney::vector_collectives {
namespace {

// Like alltoallv, but with a datatype for each block (here always the same) and with displacements in bytes,
// as int.
class Alltoallw final : public ExchangeBase {
 public:
  Alltoallw(const Place& place, const Values& values)
      : ExchangeBase(place, values), types_(static_cast<std::size_t>(comm_.size), sent_.type()) {
    if (sent_.type() != MPI_BYTE)
      throw InvalidCase("bytes=" + std::to_string(mean_) + " is more than MPI_Alltoallw's displacements, " +
                        "which are int and in bytes, can reach; use alltoallv");
  }

  void run() override {
    MPI_Alltoallw(outgoing_.next(), sent_.counts(), sent_.displacements(), types_.data(), incoming_.next(),
                  received_.data(), displacements_.data(), types_.data(), comm_.handle);
  }

 private:
  const std::vector<MPI_Datatype> types_;
};

constexpr Parameter alltoallw_parameters[] = {exchanged_bytes, counts_parameter, parameters::buffers,
                                              parameters::sync};

}  // namespace

extern constinit const WorkloadInfo alltoallw{
    .name = "alltoallw",
    .role = "collective",
    .operation = "alltoallw",
    .size = "bytes",
    .help = "MPI_Alltoallw: as alltoallv, with a type and a displacement in bytes for each block",
    .time = "the longest over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = alltoallw_parameters,
    .make = make<Alltoallw>,
};

}  // namespace hockney::vector_collectives
