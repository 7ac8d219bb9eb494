// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/started.hpp"

namespace hockney::nonblocking {
namespace {

class Ibarrier final : public StartAndWait<Workload> {
 public:
  Ibarrier(const Place& place, const Values&) : comm_(place.comm) {}
  void start(MPI_Request* request) override { MPI_Ibarrier(comm_.handle, request); }

 private:
  const Comm& comm_;
};

class Ibcast final : public StartAndWait<BcastBase> {
 public:
  using StartAndWait::StartAndWait;
  void start(MPI_Request* request) override {
    MPI_Ibcast(incoming_.next(), block_.count, block_.type, root_, comm_.handle, request);
  }
};

class Igather final : public StartAndWait<GatherBase> {
 public:
  using StartAndWait::StartAndWait;
  void start(MPI_Request* request) override {
    MPI_Igather(outgoing_.next(), block_.count, block_.type, incoming_.next(), block_.count, block_.type,
                root_, comm_.handle, request);
  }
};

class Iscatter final : public StartAndWait<ScatterBase> {
 public:
  using StartAndWait::StartAndWait;
  void start(MPI_Request* request) override {
    MPI_Iscatter(outgoing_.next(), block_.count, block_.type, incoming_.next(), block_.count, block_.type,
                 root_, comm_.handle, request);
  }
};

class Iallgather final : public StartAndWait<AllgatherBase> {
 public:
  using StartAndWait::StartAndWait;
  void start(MPI_Request* request) override {
    MPI_Iallgather(outgoing_.next(), block_.count, block_.type, incoming_.next(), block_.count, block_.type,
                   comm_.handle, request);
  }
};

class Ialltoall final : public StartAndWait<AlltoallBase> {
 public:
  using StartAndWait::StartAndWait;
  void start(MPI_Request* request) override {
    MPI_Ialltoall(outgoing_.next(), block_.count, block_.type, incoming_.next(), block_.count, block_.type,
                  comm_.handle, request);
  }
};

class Ireduce final : public StartAndWait<ReduceBase> {
 public:
  using StartAndWait::StartAndWait;
  void start(MPI_Request* request) override {
    MPI_Ireduce(outgoing_.next(), incoming_.next(), elements(), MPI_DOUBLE, sum(), root_, comm_.handle,
                request);
  }
};

class Iallreduce final : public StartAndWait<AllreduceBase> {
 public:
  using StartAndWait::StartAndWait;
  void start(MPI_Request* request) override {
    MPI_Iallreduce(outgoing_.next(), incoming_.next(), elements(), MPI_DOUBLE, sum(), comm_.handle, request);
  }
};

class IreduceScatterBlock final : public StartAndWait<ReduceScatterBlockBase> {
 public:
  using StartAndWait::StartAndWait;
  void start(MPI_Request* request) override {
    MPI_Ireduce_scatter_block(outgoing_.next(), incoming_.next(), elements(), MPI_DOUBLE, sum(), comm_.handle,
                              request);
  }
};

class Iscan final : public StartAndWait<ScanBase> {
 public:
  using StartAndWait::StartAndWait;
  void start(MPI_Request* request) override {
    MPI_Iscan(outgoing_.next(), incoming_.next(), elements(), MPI_DOUBLE, sum(), comm_.handle, request);
  }
};

class Iexscan final : public StartAndWait<ExscanBase> {
 public:
  using StartAndWait::StartAndWait;
  void start(MPI_Request* request) override {
    MPI_Iexscan(outgoing_.next(), incoming_.next(), elements(), MPI_DOUBLE, sum(), comm_.handle, request);
  }
};

using parameters::buffers, parameters::bytes, parameters::root, parameters::sync, parameters::vector_bytes;

constexpr Parameter ibarrier_parameters[] = {sync};
constexpr Parameter ibcast_parameters[] = {bytes("bytes from the root"), buffers, root, sync};
constexpr Parameter igather_parameters[] = {bytes("bytes from each rank"), buffers, root, sync};
constexpr Parameter iscatter_parameters[] = {bytes("bytes to each rank"), buffers, root, sync};
constexpr Parameter iallgather_parameters[] = {bytes("bytes from each rank"), buffers, sync};
constexpr Parameter ialltoall_parameters[] = {bytes("bytes from each rank to each rank"), buffers, sync};
constexpr Parameter ireduce_parameters[] = {vector_bytes, buffers, root, sync};
constexpr Parameter sum_parameters[] = {vector_bytes, buffers, sync};
constexpr Parameter ireduce_scatter_block_parameters[] = {
    bytes("bytes of the block that each rank receives, a multiple of 8", parameters::element_bytes), buffers,
    sync};

}  // namespace

extern constinit const WorkloadInfo ibarrier{
    .name = "ibarrier",
    .role = "collective",
    .operation = "ibarrier",
    .help = "MPI_Ibarrier, then MPI_Wait",
    .time = time_of_call_and_wait,
    .parameters = ibarrier_parameters,
    .make = make<Ibarrier>,
};
extern constinit const WorkloadInfo ibcast = collective_info(
    "ibcast", "MPI_Ibcast, then MPI_Wait", time_of_call_and_wait, ibcast_parameters, make<Ibcast>);
extern constinit const WorkloadInfo igather = collective_info(
    "igather", "MPI_Igather, then MPI_Wait", time_of_call_and_wait, igather_parameters, make<Igather>);
extern constinit const WorkloadInfo iscatter = collective_info(
    "iscatter", "MPI_Iscatter, then MPI_Wait", time_of_call_and_wait, iscatter_parameters, make<Iscatter>);
extern constinit const WorkloadInfo iallgather =
    collective_info("iallgather", "MPI_Iallgather, then MPI_Wait", time_of_call_and_wait,
                    iallgather_parameters, make<Iallgather>);
extern constinit const WorkloadInfo ialltoall =
    collective_info("ialltoall", "MPI_Ialltoall, then MPI_Wait", time_of_call_and_wait, ialltoall_parameters,
                    make<Ialltoall>);
extern constinit const WorkloadInfo ireduce =
    collective_info("ireduce", "MPI_Ireduce, MPI_SUM of doubles, then MPI_Wait", time_of_call_and_wait,
                    ireduce_parameters, make<Ireduce>);
extern constinit const WorkloadInfo iallreduce =
    collective_info("iallreduce", "MPI_Iallreduce, MPI_SUM of doubles, then MPI_Wait", time_of_call_and_wait,
                    sum_parameters, make<Iallreduce>);
extern constinit const WorkloadInfo ireduce_scatter_block =
    collective_info("ireduce_scatter_block", "MPI_Ireduce_scatter_block, MPI_SUM of doubles, then MPI_Wait",
                    time_of_call_and_wait, ireduce_scatter_block_parameters, make<IreduceScatterBlock>);
extern constinit const WorkloadInfo iscan =
    collective_info("iscan", "MPI_Iscan, MPI_SUM of doubles, then MPI_Wait", time_of_call_and_wait,
                    sum_parameters, make<Iscan>);
extern constinit const WorkloadInfo iexscan = collective_info(
    "iexscan", "MPI_Iexscan, MPI_SUM of doubles, then MPI_Wait: the sum over the ranks before this one",
    time_of_call_and_wait, sum_parameters, make<Iexscan>);

}  // namespace hockney::nonblocking
