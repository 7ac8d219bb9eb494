// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/exchange_base.hpp"
#include "measure/reduce_scatter_base.hpp"
#include "measure/started.hpp"
#include "measure/vector_base.hpp"

namespace hockney::nonblocking {
namespace {

class Igatherv final : public StartAndWait<GathervBase> {
 public:
  using StartAndWait::StartAndWait;
  void start(MPI_Request* request) override {
    MPI_Igatherv(outgoing_.next(), local_count(), counts_.type(), incoming_.next(), counts_.counts(),
                 counts_.displacements(), counts_.type(), root_, comm_.handle, request);
  }
};

class Iscatterv final : public StartAndWait<ScattervBase> {
 public:
  using StartAndWait::StartAndWait;
  void start(MPI_Request* request) override {
    MPI_Iscatterv(outgoing_.next(), counts_.counts(), counts_.displacements(), counts_.type(),
                  incoming_.next(), local_count(), counts_.type(), root_, comm_.handle, request);
  }
};

class Iallgatherv final : public StartAndWait<AllgathervBase> {
 public:
  using StartAndWait::StartAndWait;
  void start(MPI_Request* request) override {
    MPI_Iallgatherv(outgoing_.next(), local_count(), counts_.type(), incoming_.next(), counts_.counts(),
                    counts_.displacements(), counts_.type(), comm_.handle, request);
  }
};

class Ialltoallv final : public StartAndWait<ExchangeBase> {
 public:
  using StartAndWait::StartAndWait;
  void start(MPI_Request* request) override {
    MPI_Ialltoallv(outgoing_.next(), sent_.counts(), sent_.displacements(), sent_.type(), incoming_.next(),
                   received_.data(), displacements_.data(), sent_.type(), comm_.handle, request);
  }
};

class Ialltoallw final : public StartAndWait<TypedExchangeBase> {
 public:
  using StartAndWait::StartAndWait;
  void start(MPI_Request* request) override {
    MPI_Ialltoallw(outgoing_.next(), sent_.counts(), sent_.displacements(), types_.data(), incoming_.next(),
                   received_.data(), displacements_.data(), types_.data(), comm_.handle, request);
  }
};

class IreduceScatter final : public StartAndWait<ReduceScatterBase> {
 public:
  using StartAndWait::StartAndWait;
  void start(MPI_Request* request) override {
    MPI_Ireduce_scatter(outgoing_.next(), incoming_.next(), counts_.counts(), MPI_DOUBLE, sum_.operation,
                        comm_.handle, request);
  }
};

constexpr Parameter rooted_parameters[] = {mean_bytes, counts_parameter, parameters::buffers,
                                           parameters::root, parameters::sync};
constexpr Parameter iallgatherv_parameters[] = {mean_bytes, counts_parameter, parameters::buffers,
                                                parameters::sync};
constexpr Parameter exchange_parameters[] = {exchanged_bytes, counts_parameter, parameters::buffers,
                                             parameters::sync};
constexpr Parameter ireduce_scatter_parameters[] = {summed_bytes, counts_parameter, parameters::buffers,
                                                    parameters::sync};

}  // namespace

extern constinit const WorkloadInfo igatherv = collective_info(
    "igatherv", "MPI_Igatherv, then MPI_Wait: the root receives all blocks, whose sizes differ",
    time_of_call_and_wait, rooted_parameters, make<Igatherv>);
extern constinit const WorkloadInfo iscatterv = collective_info(
    "iscatterv", "MPI_Iscatterv, then MPI_Wait: the root sends each rank a block of a different size",
    time_of_call_and_wait, rooted_parameters, make<Iscatterv>);
extern constinit const WorkloadInfo iallgatherv = collective_info(
    "iallgatherv", "MPI_Iallgatherv, then MPI_Wait: every rank receives all blocks, whose sizes differ",
    time_of_call_and_wait, iallgatherv_parameters, make<Iallgatherv>);
extern constinit const WorkloadInfo ialltoallv = collective_info(
    "ialltoallv", "MPI_Ialltoallv, then MPI_Wait: every rank sends a block of a different size to each rank",
    time_of_call_and_wait, exchange_parameters, make<Ialltoallv>);
extern constinit const WorkloadInfo ialltoallw = collective_info(
    "ialltoallw",
    "MPI_Ialltoallw, then MPI_Wait: like ialltoallv, with a datatype and a displacement in bytes for each "
    "block",
    time_of_call_and_wait, exchange_parameters, make<Ialltoallw>);
extern constinit const WorkloadInfo ireduce_scatter = collective_info(
    "ireduce_scatter",
    "MPI_Ireduce_scatter, MPI_SUM of doubles, then MPI_Wait: each rank receives a block of the sum; the "
    "sizes differ",
    time_of_call_and_wait, ireduce_scatter_parameters, make<IreduceScatter>);

}  // namespace hockney::nonblocking
