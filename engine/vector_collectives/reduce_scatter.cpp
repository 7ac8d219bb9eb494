// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/sum_op.hpp"
#include "vector_collectives/vector_base.hpp"

namespace hockney::vector_collectives {
namespace {

// Doubles, which sum exactly, so that the last bit is checked.
class ReduceScatter final : public VectorBase {
 public:
  ReduceScatter(const Place& place, const Values& values)
      : VectorBase(place, countable(values, place.comm.size),
                   {Holds::all, Holds::own, Holds::all, Holds::own}, sizeof(double), MPI_DOUBLE) {}

  void run() override {
    MPI_Reduce_scatter(outgoing_.next(), incoming_.next(), counts_.counts(), MPI_DOUBLE, sum_.operation,
                       comm_.handle);
  }

  void fill(const Payload& payload) override {
    write_reduction(outgoing_.upcoming(), payload.seed, comm_.rank);
    spoil(incoming_.upcoming(), payload);
  }

  Check verify(const Payload& payload) override {
    const std::size_t first = counts_.offset(comm_.rank) / sizeof(double);
    return check_reduced(incoming_.taken(), payload, first, sum_of_factors(comm_.size),
                         "the block of the sum");
  }

 private:
  // Returns `values`. Throws if MPI cannot count the doubles (a reduction cannot use a larger unit), or if it
  // sums them incorrectly.
  static const Values& countable(const Values& values, int ranks) {
#ifdef HOCKNEY_SMPI
    if (values.word("counts") != "even")
      throw InvalidCase(
          "counts=" + values.word("counts") +
          " cannot be simulated (SimGrid's MPI_Reduce_scatter leaves ranks out of the sum where "
          "blocks are empty); use counts=even");
#endif
    if (static_cast<double>(values.bytes()) / sizeof(double) * ranks > INT_MAX)
      throw InvalidCase("bytes=" + std::to_string(values.bytes()) + " for each of " + std::to_string(ranks) +
                        " ranks is more doubles than an MPI count can hold");
    return values;
  }

  const SumOp sum_;
};

constexpr Parameter reduce_scatter_parameters[] = {
    parameters::bytes("bytes of a rank's block of the sum, in the mean over the ranks; a multiple of 8"),
    counts_parameter, parameters::buffers, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo reduce_scatter{
    .name = "reduce_scatter",
    .role = "collective",
    .operation = "reduce_scatter",
    .size = "bytes",
    .help = "MPI_Reduce_scatter, MPI_SUM of doubles: each rank gets a block of the sum, whose sizes differ",
    .time = "the longest over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = reduce_scatter_parameters,
    .make = make<ReduceScatter>,
};

}  // namespace hockney::vector_collectives
