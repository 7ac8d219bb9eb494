// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/collective_data.hpp"
#include "measure/exchange_base.hpp"
#include "measure/reduce_scatter_base.hpp"
#include "measure/vector_base.hpp"

namespace hockney::vector_collectives {
namespace {

class Gatherv final : public GathervBase {
 public:
  using GathervBase::GathervBase;
  void run() override {
    MPI_Gatherv(outgoing_.next(), local_count(), counts_.type(), incoming_.next(), counts_.counts(),
                counts_.displacements(), counts_.type(), root_, comm_.handle);
  }
};

class Scatterv final : public ScattervBase {
 public:
  using ScattervBase::ScattervBase;
  void run() override {
    MPI_Scatterv(outgoing_.next(), counts_.counts(), counts_.displacements(), counts_.type(),
                 incoming_.next(), local_count(), counts_.type(), root_, comm_.handle);
  }
};

class Allgatherv final : public AllgathervBase {
 public:
  using AllgathervBase::AllgathervBase;
  void run() override {
    MPI_Allgatherv(outgoing_.next(), local_count(), counts_.type(), incoming_.next(), counts_.counts(),
                   counts_.displacements(), counts_.type(), comm_.handle);
  }
};

class Alltoallv final : public ExchangeBase {
 public:
  using ExchangeBase::ExchangeBase;
  void run() override {
    MPI_Alltoallv(outgoing_.next(), sent_.counts(), sent_.displacements(), sent_.type(), incoming_.next(),
                  received_.data(), displacements_.data(), sent_.type(), comm_.handle);
  }
};

class Alltoallw final : public TypedExchangeBase {
 public:
  using TypedExchangeBase::TypedExchangeBase;
  void run() override {
    MPI_Alltoallw(outgoing_.next(), sent_.counts(), sent_.displacements(), types_.data(), incoming_.next(),
                  received_.data(), displacements_.data(), types_.data(), comm_.handle);
  }
};

class ReduceScatter final : public ReduceScatterBase {
 public:
  using ReduceScatterBase::ReduceScatterBase;
  void run() override {
    MPI_Reduce_scatter(outgoing_.next(), incoming_.next(), counts_.counts(), MPI_DOUBLE, sum_.operation,
                       comm_.handle);
  }
};

class Exscan final : public ExscanBase {
 public:
  using ExscanBase::ExscanBase;
  void run() override {
    MPI_Exscan(outgoing_.next(), incoming_.next(), elements(), MPI_DOUBLE, sum(), comm_.handle);
  }
};

constexpr Parameter rooted_parameters[] = {mean_bytes, counts_parameter, parameters::buffers,
                                           parameters::root, parameters::sync};
constexpr Parameter allgatherv_parameters[] = {mean_bytes, counts_parameter, parameters::buffers,
                                               parameters::sync};
constexpr Parameter exchange_parameters[] = {exchanged_bytes, counts_parameter, parameters::buffers,
                                             parameters::sync};
constexpr Parameter reduce_scatter_parameters[] = {summed_bytes, counts_parameter, parameters::buffers,
                                                   parameters::sync};
constexpr Parameter exscan_parameters[] = {parameters::vector_bytes, parameters::buffers, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo gatherv =
    collective_info("gatherv", "MPI_Gatherv: the root receives all blocks, whose sizes differ", time_of_call,
                    rooted_parameters, make<Gatherv>);
extern constinit const WorkloadInfo scatterv =
    collective_info("scatterv", "MPI_Scatterv: the root sends each rank a block of a different size",
                    time_of_call, rooted_parameters, make<Scatterv>);
extern constinit const WorkloadInfo allgatherv =
    collective_info("allgatherv", "MPI_Allgatherv: every rank receives all blocks, whose sizes differ",
                    time_of_call, allgatherv_parameters, make<Allgatherv>);
extern constinit const WorkloadInfo alltoallv =
    collective_info("alltoallv", "MPI_Alltoallv: every rank sends a block of a different size to each rank",
                    time_of_call, exchange_parameters, make<Alltoallv>);
extern constinit const WorkloadInfo alltoallw = collective_info(
    "alltoallw", "MPI_Alltoallw: like alltoallv, with a datatype and a displacement in bytes for each block",
    time_of_call, exchange_parameters, make<Alltoallw>);
extern constinit const WorkloadInfo reduce_scatter = collective_info(
    "reduce_scatter",
    "MPI_Reduce_scatter, MPI_SUM of doubles: each rank receives a block of the sum; the sizes differ",
    time_of_call, reduce_scatter_parameters, make<ReduceScatter>);
extern constinit const WorkloadInfo exscan =
    collective_info("exscan", "MPI_Exscan, MPI_SUM of doubles: the sum over the ranks before this one",
                    time_of_call, exscan_parameters, make<Exscan>);

}  // namespace hockney::vector_collectives
