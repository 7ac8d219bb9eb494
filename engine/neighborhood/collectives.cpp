// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/overlapped.hpp"
#include "measure/started.hpp"
#include "neighborhood/neighbor_base.hpp"
#include "neighborhood/neighbor_vector.hpp"

namespace hockney::neighborhood {
namespace {

class NeighborAllgather final : public GatherBase {
 public:
  using GatherBase::GatherBase;
  void run() override {
    MPI_Neighbor_allgather(outgoing_.next(), block_.count, block_.type, incoming_.next(), block_.count,
                           block_.type, topology_.handle());
  }
};

class IneighborAllgather final : public StartAndWait<GatherBase> {
 public:
  using StartAndWait::StartAndWait;
  void start(MPI_Request* request) override {
    MPI_Ineighbor_allgather(outgoing_.next(), block_.count, block_.type, incoming_.next(), block_.count,
                            block_.type, topology_.handle(), request);
  }
};

class NeighborAlltoall final : public ExchangeBase {
 public:
  using ExchangeBase::ExchangeBase;
  void run() override {
    MPI_Neighbor_alltoall(outgoing_.next(), block_.count, block_.type, incoming_.next(), block_.count,
                          block_.type, topology_.handle());
  }
};

class IneighborAlltoall final : public StartAndWait<ExchangeBase> {
 public:
  using StartAndWait::StartAndWait;
  void start(MPI_Request* request) override {
    MPI_Ineighbor_alltoall(outgoing_.next(), block_.count, block_.type, incoming_.next(), block_.count,
                           block_.type, topology_.handle(), request);
  }
};

class NeighborAllgatherv final : public GathervBase {
 public:
  using GathervBase::GathervBase;
  void run() override {
    MPI_Neighbor_allgatherv(outgoing_.next(), counts_.count(comm_.rank), counts_.type(), incoming_.next(),
                            receive_blocks_.counts.data(), receive_blocks_.displacements.data(),
                            counts_.type(), topology_.handle());
  }
};

class IneighborAllgatherv final : public StartAndWait<GathervBase> {
 public:
  using StartAndWait::StartAndWait;
  void start(MPI_Request* request) override {
    MPI_Ineighbor_allgatherv(outgoing_.next(), counts_.count(comm_.rank), counts_.type(), incoming_.next(),
                             receive_blocks_.counts.data(), receive_blocks_.displacements.data(),
                             counts_.type(), topology_.handle(), request);
  }
};

class NeighborAlltoallv final : public ExchangevBase {
 public:
  using ExchangevBase::ExchangevBase;
  void run() override {
    MPI_Neighbor_alltoallv(outgoing_.next(), send_blocks_.counts.data(), send_blocks_.displacements.data(),
                           counts_.type(), incoming_.next(), receive_blocks_.counts.data(),
                           receive_blocks_.displacements.data(), counts_.type(), topology_.handle());
  }
};

class IneighborAlltoallv final : public StartAndWait<ExchangevBase> {
 public:
  using StartAndWait::StartAndWait;
  void start(MPI_Request* request) override {
    MPI_Ineighbor_alltoallv(outgoing_.next(), send_blocks_.counts.data(), send_blocks_.displacements.data(),
                            counts_.type(), incoming_.next(), receive_blocks_.counts.data(),
                            receive_blocks_.displacements.data(), counts_.type(), topology_.handle(),
                            request);
  }
};

class NeighborAlltoallw final : public ExchangewBase {
 public:
  using ExchangewBase::ExchangewBase;
  void run() override {
    MPI_Neighbor_alltoallw(outgoing_.next(), send_blocks_.counts.data(), sent_bytes_.data(), types_.data(),
                           incoming_.next(), receive_blocks_.counts.data(), received_bytes_.data(),
                           types_.data(), topology_.handle());
  }
};

class IneighborAlltoallw final : public StartAndWait<ExchangewBase> {
 public:
  using StartAndWait::StartAndWait;
  void start(MPI_Request* request) override {
    MPI_Ineighbor_alltoallw(outgoing_.next(), send_blocks_.counts.data(), sent_bytes_.data(), types_.data(),
                            incoming_.next(), receive_blocks_.counts.data(), received_bytes_.data(),
                            types_.data(), topology_.handle(), request);
  }
};

constexpr Parameter gather_parameters[] = {
    parameters::bytes("bytes of each rank's block, which it sends to all its neighbors"),
    topology_parameter,
    degree_parameter,
    seed_parameter,
    parameters::buffers,
    parameters::sync};
constexpr Parameter exchange_parameters[] = {
    parameters::bytes("bytes of the block that each rank sends to each neighbor"),
    topology_parameter,
    degree_parameter,
    seed_parameter,
    parameters::buffers,
    parameters::sync};
constexpr Parameter gatherv_parameters[] = {
    parameters::bytes("mean size of a rank's block, which it sends to all its neighbors"),
    counts_parameter_by_rank,
    topology_parameter,
    degree_parameter,
    seed_parameter,
    parameters::buffers,
    parameters::sync};
constexpr Parameter exchangev_parameters[] = {
    parameters::bytes("mean size of the block that each neighbor receives"),
    counts_parameter_by_rank,
    topology_parameter,
    degree_parameter,
    seed_parameter,
    parameters::buffers,
    parameters::sync};

constexpr Parameter overlap_neighbor_parameters[] = {
    {"operation", Kind::choice, "", "ineighbor_alltoall", 0, 0,
     "ineighbor_allgather|ineighbor_allgatherv|ineighbor_alltoall|ineighbor_alltoallv|ineighbor_alltoallw",
     "the collective operation"},
    parameters::bytes("bytes, as in the workload of the operation"),
    counts_parameter_by_rank,
    topology_parameter,
    degree_parameter,
    seed_parameter,
    parameters::buffers,
    computing_parameter,
    duration_parameter,
    tests_parameter,
    parameters::sync_each};

constexpr WorkloadInfo neighbor_info(const char* name, const char* help, const char* time,
                                     std::span<const Parameter> parameters, MakeWorkload* make) {
  WorkloadInfo info = collective_info(name, help, time, parameters, make);
  info.role = "neighborhood";
  return info;
}

}  // namespace

extern constinit const WorkloadInfo neighbor_allgather = neighbor_info(
    "neighbor_allgather", "MPI_Neighbor_allgather: each rank sends the same block to all its neighbors",
    time_of_call, gather_parameters, make<NeighborAllgather>);
extern constinit const WorkloadInfo ineighbor_allgather = neighbor_info(
    "ineighbor_allgather",
    "MPI_Ineighbor_allgather, then MPI_Wait: each rank sends the same block to all its neighbors",
    time_of_call_and_wait, gather_parameters, make<IneighborAllgather>);
extern constinit const WorkloadInfo neighbor_alltoall = neighbor_info(
    "neighbor_alltoall", "MPI_Neighbor_alltoall: each rank sends a different block to each neighbor",
    time_of_call, exchange_parameters, make<NeighborAlltoall>);
extern constinit const WorkloadInfo ineighbor_alltoall =
    neighbor_info("ineighbor_alltoall",
                  "MPI_Ineighbor_alltoall, then MPI_Wait: each rank sends a different block to each neighbor",
                  time_of_call_and_wait, exchange_parameters, make<IneighborAlltoall>);
extern constinit const WorkloadInfo neighbor_allgatherv =
    neighbor_info("neighbor_allgatherv",
                  "MPI_Neighbor_allgatherv: each rank sends its block to all its neighbors; block sizes "
                  "differ between ranks",
                  time_of_call, gatherv_parameters, make<NeighborAllgatherv>);
extern constinit const WorkloadInfo ineighbor_allgatherv =
    neighbor_info("ineighbor_allgatherv",
                  "MPI_Ineighbor_allgatherv, then MPI_Wait: each rank sends its block to all its neighbors; "
                  "block sizes differ between ranks",
                  time_of_call_and_wait, gatherv_parameters, make<IneighborAllgatherv>);
extern constinit const WorkloadInfo neighbor_alltoallv =
    neighbor_info("neighbor_alltoallv",
                  "MPI_Neighbor_alltoallv: each rank sends a block of a different size to each neighbor",
                  time_of_call, exchangev_parameters, make<NeighborAlltoallv>);
extern constinit const WorkloadInfo ineighbor_alltoallv = neighbor_info(
    "ineighbor_alltoallv",
    "MPI_Ineighbor_alltoallv, then MPI_Wait: each rank sends a block of a different size to each neighbor",
    time_of_call_and_wait, exchangev_parameters, make<IneighborAlltoallv>);
extern constinit const WorkloadInfo neighbor_alltoallw =
    neighbor_info("neighbor_alltoallw",
                  "MPI_Neighbor_alltoallw: like neighbor_alltoallv, with a datatype and a displacement in "
                  "bytes for each block",
                  time_of_call, exchangev_parameters, make<NeighborAlltoallw>);
extern constinit const WorkloadInfo ineighbor_alltoallw =
    neighbor_info("ineighbor_alltoallw",
                  "MPI_Ineighbor_alltoallw, then MPI_Wait: like neighbor_alltoallv, with a datatype and a "
                  "displacement in bytes for each block",
                  time_of_call_and_wait, exchangev_parameters, make<IneighborAlltoallw>);
extern constinit const WorkloadInfo overlap_neighbor =
    overlap_info("overlap_neighbor", "a nonblocking neighborhood collective, computation, then MPI_Wait",
                 overlap_neighbor_parameters);

}  // namespace hockney::neighborhood
