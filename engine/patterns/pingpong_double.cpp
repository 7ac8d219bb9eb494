// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/pair_base.hpp"
#include "measure/parameters.hpp"

namespace hockney::patterns {
namespace {

class PingPongDouble final : public PairBase {
 public:
  using PairBase::PairBase;

  void run() override {
    MPI_Sendrecv(outgoing_.next(), block_.count, block_.type, partner_, tag, incoming_.next(), block_.count,
                 block_.type, partner_, tag, comm_.handle, MPI_STATUS_IGNORE);
  }

  // Counts both directions.
  std::uint64_t bytes_moved() const override { return 2 * block_.bytes; }
};

constexpr Parameter pingpong_double_parameters[] = {parameters::bytes("bytes in each message"),
                                                    parameters::buffers};

}  // namespace

extern constinit const WorkloadInfo pingpong_double{
    .name = "pingpong_double",
    .role = "point-to-point",
    .operation = "sendrecv",
    .size = "bytes",
    .help = "both ranks send and receive at the same time, with MPI_Sendrecv",
    .time = "one exchange",
    .min_ranks = 2,
    .max_ranks = 2,
    .timing = Timing::root,
    .parameters = pingpong_double_parameters,
    .make = make<PingPongDouble>,
};

}  // namespace hockney::patterns
