// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "persistent/prepared.hpp"

namespace hockney::persistent {
namespace {

class PlacedWorkload : public Workload {
 public:
  explicit PlacedWorkload(const Place& place) : comm_(place.comm) {}

 protected:
  const Comm& comm_;
};

class PersistentBarrier final : public Prepared<PlacedWorkload> {
 public:
  PersistentBarrier(const Place& place, const Values&) : Prepared(place) {
    require_mpi4("MPI_Barrier_init", "barrier");
  }

 private:
  void make_request([[maybe_unused]] MPI_Request* request) override {
    HOCKNEY_IF_MPI4(MPI_Barrier_init(comm_.handle, MPI_INFO_NULL, request));
  }
};

class Bcast final : public Prepared<BcastBase> {
 public:
  Bcast(const Place& place, const Values& values)
      : Prepared(place, require_mpi4_values(values, "MPI_Bcast_init", "bcast")) {}

 private:
  void make_request([[maybe_unused]] MPI_Request* request) override {
    HOCKNEY_IF_MPI4(MPI_Bcast_init(incoming_.next(), block_.count, block_.type, root_, comm_.handle,
                                   MPI_INFO_NULL, request));
  }
};

class Gather final : public Prepared<GatherBase> {
 public:
  Gather(const Place& place, const Values& values)
      : Prepared(place, require_mpi4_values(values, "MPI_Gather_init", "gather")) {}

 private:
  void make_request([[maybe_unused]] MPI_Request* request) override {
    HOCKNEY_IF_MPI4(MPI_Gather_init(outgoing_.next(), block_.count, block_.type, incoming_.next(),
                                    block_.count, block_.type, root_, comm_.handle, MPI_INFO_NULL, request));
  }
};

class Scatter final : public Prepared<ScatterBase> {
 public:
  Scatter(const Place& place, const Values& values)
      : Prepared(place, require_mpi4_values(values, "MPI_Scatter_init", "scatter")) {}

 private:
  void make_request([[maybe_unused]] MPI_Request* request) override {
    HOCKNEY_IF_MPI4(MPI_Scatter_init(outgoing_.next(), block_.count, block_.type, incoming_.next(),
                                     block_.count, block_.type, root_, comm_.handle, MPI_INFO_NULL, request));
  }
};

class Allgather final : public Prepared<AllgatherBase> {
 public:
  Allgather(const Place& place, const Values& values)
      : Prepared(place, require_mpi4_values(values, "MPI_Allgather_init", "allgather")) {}

 private:
  void make_request([[maybe_unused]] MPI_Request* request) override {
    HOCKNEY_IF_MPI4(MPI_Allgather_init(outgoing_.next(), block_.count, block_.type, incoming_.next(),
                                       block_.count, block_.type, comm_.handle, MPI_INFO_NULL, request));
  }
};

class Alltoall final : public Prepared<AlltoallBase> {
 public:
  Alltoall(const Place& place, const Values& values)
      : Prepared(place, require_mpi4_values(values, "MPI_Alltoall_init", "alltoall")) {}

 private:
  void make_request([[maybe_unused]] MPI_Request* request) override {
    HOCKNEY_IF_MPI4(MPI_Alltoall_init(outgoing_.next(), block_.count, block_.type, incoming_.next(),
                                      block_.count, block_.type, comm_.handle, MPI_INFO_NULL, request));
  }
};

class Reduce final : public Prepared<ReduceBase> {
 public:
  Reduce(const Place& place, const Values& values)
      : Prepared(place, require_mpi4_values(values, "MPI_Reduce_init", "reduce")) {}

 private:
  void make_request([[maybe_unused]] MPI_Request* request) override {
    HOCKNEY_IF_MPI4(MPI_Reduce_init(outgoing_.next(), incoming_.next(), elements(), MPI_DOUBLE, sum(), root_,
                                    comm_.handle, MPI_INFO_NULL, request));
  }
};

class Allreduce final : public Prepared<AllreduceBase> {
 public:
  Allreduce(const Place& place, const Values& values)
      : Prepared(place, require_mpi4_values(values, "MPI_Allreduce_init", "allreduce")) {}

 private:
  void make_request([[maybe_unused]] MPI_Request* request) override {
    HOCKNEY_IF_MPI4(MPI_Allreduce_init(outgoing_.next(), incoming_.next(), elements(), MPI_DOUBLE, sum(),
                                       comm_.handle, MPI_INFO_NULL, request));
  }
};

using parameters::bytes, parameters::root, parameters::sync, parameters::vector_bytes;

constexpr Parameter barrier_parameters[] = {sync};
constexpr Parameter bcast_parameters[] = {bytes("bytes from the root"), one_buffer, root, sync};
constexpr Parameter gather_parameters[] = {bytes("bytes from each rank"), one_buffer, root, sync};
constexpr Parameter scatter_parameters[] = {bytes("bytes to each rank"), one_buffer, root, sync};
constexpr Parameter allgather_parameters[] = {bytes("bytes from each rank"), one_buffer, sync};
constexpr Parameter alltoall_parameters[] = {bytes("bytes from each rank to each rank"), one_buffer, sync};
constexpr Parameter reduce_parameters[] = {vector_bytes, one_buffer, root, sync};
constexpr Parameter allreduce_parameters[] = {vector_bytes, one_buffer, sync};

}  // namespace

extern constinit const WorkloadInfo barrier_persistent{
    .name = "barrier_persistent",
    .role = "collective",
    .operation = "barrier_persistent",
    .help = "MPI_Start of a request made by MPI_Barrier_init, then MPI_Wait",
    .time = time_of_start_and_wait,
    .parameters = barrier_parameters,
    .make = make<PersistentBarrier>,
};
extern constinit const WorkloadInfo bcast_persistent =
    collective_info("bcast_persistent", "MPI_Start of a request made by MPI_Bcast_init, then MPI_Wait",
                    time_of_start_and_wait, bcast_parameters, make<Bcast>);
extern constinit const WorkloadInfo gather_persistent =
    collective_info("gather_persistent", "MPI_Start of a request made by MPI_Gather_init, then MPI_Wait",
                    time_of_start_and_wait, gather_parameters, make<Gather>);
extern constinit const WorkloadInfo scatter_persistent =
    collective_info("scatter_persistent", "MPI_Start of a request made by MPI_Scatter_init, then MPI_Wait",
                    time_of_start_and_wait, scatter_parameters, make<Scatter>);
extern constinit const WorkloadInfo allgather_persistent = collective_info(
    "allgather_persistent", "MPI_Start of a request made by MPI_Allgather_init, then MPI_Wait",
    time_of_start_and_wait, allgather_parameters, make<Allgather>);
extern constinit const WorkloadInfo alltoall_persistent =
    collective_info("alltoall_persistent", "MPI_Start of a request made by MPI_Alltoall_init, then MPI_Wait",
                    time_of_start_and_wait, alltoall_parameters, make<Alltoall>);
extern constinit const WorkloadInfo reduce_persistent =
    collective_info("reduce_persistent", "MPI_Start of a request made by MPI_Reduce_init, then MPI_Wait",
                    time_of_start_and_wait, reduce_parameters, make<Reduce>);
extern constinit const WorkloadInfo allreduce_persistent = collective_info(
    "allreduce_persistent", "MPI_Start of a request made by MPI_Allreduce_init, then MPI_Wait",
    time_of_start_and_wait, allreduce_parameters, make<Allreduce>);

}  // namespace hockney::persistent
