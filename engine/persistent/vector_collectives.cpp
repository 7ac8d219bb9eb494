// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/exchange_base.hpp"
#include "measure/reduce_scatter_base.hpp"
#include "measure/vector_base.hpp"
#include "persistent/prepared.hpp"

namespace hockney::persistent {
namespace {

class Gatherv final : public Prepared<GathervBase> {
 public:
  Gatherv(const Place& place, const Values& values)
      : Prepared(place, require_mpi4_values(values, "MPI_Gatherv_init", "gatherv")) {}

 private:
  void make_request([[maybe_unused]] MPI_Request* request) override {
    HOCKNEY_IF_MPI4(MPI_Gatherv_init(outgoing_.next(), local_count(), counts_.type(), incoming_.next(),
                                     counts_.counts(), counts_.displacements(), counts_.type(), root_,
                                     comm_.handle, MPI_INFO_NULL, request));
  }
};

class Scatterv final : public Prepared<ScattervBase> {
 public:
  Scatterv(const Place& place, const Values& values)
      : Prepared(place, require_mpi4_values(values, "MPI_Scatterv_init", "scatterv")) {}

 private:
  void make_request([[maybe_unused]] MPI_Request* request) override {
    HOCKNEY_IF_MPI4(MPI_Scatterv_init(outgoing_.next(), counts_.counts(), counts_.displacements(),
                                      counts_.type(), incoming_.next(), local_count(), counts_.type(), root_,
                                      comm_.handle, MPI_INFO_NULL, request));
  }
};

class Allgatherv final : public Prepared<AllgathervBase> {
 public:
  Allgatherv(const Place& place, const Values& values)
      : Prepared(place, require_mpi4_values(values, "MPI_Allgatherv_init", "allgatherv")) {}

 private:
  void make_request([[maybe_unused]] MPI_Request* request) override {
    HOCKNEY_IF_MPI4(MPI_Allgatherv_init(outgoing_.next(), local_count(), counts_.type(), incoming_.next(),
                                        counts_.counts(), counts_.displacements(), counts_.type(),
                                        comm_.handle, MPI_INFO_NULL, request));
  }
};

class Alltoallv final : public Prepared<ExchangeBase> {
 public:
  Alltoallv(const Place& place, const Values& values)
      : Prepared(place, require_mpi4_values(values, "MPI_Alltoallv_init", "alltoallv")) {}

 private:
  void make_request([[maybe_unused]] MPI_Request* request) override {
    HOCKNEY_IF_MPI4(MPI_Alltoallv_init(outgoing_.next(), sent_.counts(), sent_.displacements(), sent_.type(),
                                       incoming_.next(), received_.data(), displacements_.data(),
                                       sent_.type(), comm_.handle, MPI_INFO_NULL, request));
  }
};

class Alltoallw final : public Prepared<TypedExchangeBase> {
 public:
  Alltoallw(const Place& place, const Values& values)
      : Prepared(place, require_mpi4_values(values, "MPI_Alltoallw_init", "alltoallw")) {}

 private:
  void make_request([[maybe_unused]] MPI_Request* request) override {
    HOCKNEY_IF_MPI4(MPI_Alltoallw_init(outgoing_.next(), sent_.counts(), sent_.displacements(), types_.data(),
                                       incoming_.next(), received_.data(), displacements_.data(),
                                       types_.data(), comm_.handle, MPI_INFO_NULL, request));
  }
};

class ReduceScatter final : public Prepared<ReduceScatterBase> {
 public:
  ReduceScatter(const Place& place, const Values& values)
      : Prepared(place, require_mpi4_values(values, "MPI_Reduce_scatter_init", "reduce_scatter")) {}

 private:
  void make_request([[maybe_unused]] MPI_Request* request) override {
    HOCKNEY_IF_MPI4(MPI_Reduce_scatter_init(outgoing_.next(), incoming_.next(), counts_.counts(), MPI_DOUBLE,
                                            sum_.operation, comm_.handle, MPI_INFO_NULL, request));
  }
};

constexpr Parameter rooted_parameters[] = {mean_bytes, counts_parameter, one_buffer, parameters::root,
                                           parameters::sync};
constexpr Parameter allgatherv_parameters[] = {mean_bytes, counts_parameter, one_buffer, parameters::sync};
constexpr Parameter exchange_parameters[] = {exchanged_bytes, counts_parameter, one_buffer, parameters::sync};
constexpr Parameter reduce_scatter_parameters[] = {summed_bytes, counts_parameter, one_buffer,
                                                   parameters::sync};

}  // namespace

extern constinit const WorkloadInfo gatherv_persistent =
    collective_info("gatherv_persistent",
                    "MPI_Start of a request made by MPI_Gatherv_init, then MPI_Wait: the root receives all "
                    "blocks, whose sizes differ",
                    time_of_start_and_wait, rooted_parameters, make<Gatherv>);
extern constinit const WorkloadInfo scatterv_persistent = collective_info(
    "scatterv_persistent",
    "MPI_Start of a request made by MPI_Scatterv_init, then MPI_Wait: the root sends each rank a "
    "block of a different size",
    time_of_start_and_wait, rooted_parameters, make<Scatterv>);
extern constinit const WorkloadInfo allgatherv_persistent = collective_info(
    "allgatherv_persistent",
    "MPI_Start of a request made by MPI_Allgatherv_init, then MPI_Wait: every rank receives all "
    "blocks, whose sizes differ",
    time_of_start_and_wait, allgatherv_parameters, make<Allgatherv>);
extern constinit const WorkloadInfo alltoallv_persistent = collective_info(
    "alltoallv_persistent",
    "MPI_Start of a request made by MPI_Alltoallv_init, then MPI_Wait: every rank sends a block "
    "of a different size to each rank",
    time_of_start_and_wait, exchange_parameters, make<Alltoallv>);
extern constinit const WorkloadInfo alltoallw_persistent = collective_info(
    "alltoallw_persistent",
    "MPI_Start of a request made by MPI_Alltoallw_init, then MPI_Wait: like alltoallv, with a "
    "datatype and a displacement in bytes for each block",
    time_of_start_and_wait, exchange_parameters, make<Alltoallw>);
extern constinit const WorkloadInfo reduce_scatter_persistent = collective_info(
    "reduce_scatter_persistent",
    "MPI_Start of a request made by MPI_Reduce_scatter_init (MPI_SUM of doubles), then MPI_Wait: "
    "each rank receives a block of the sum; the sizes differ",
    time_of_start_and_wait, reduce_scatter_parameters, make<ReduceScatter>);

}  // namespace hockney::persistent
