// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <climits>

#include "measure/pair_base.hpp"
#include "measure/parameters.hpp"
#include "persistent/mpi4.hpp"

namespace hockney::persistent {
namespace {

// A ping-pong of partitioned messages: the receiver sees one message, while the sender marks its partitions
// as ready one by one, as threads would.
class Partitioned final : public PairBase {
 public:
  Partitioned(const Place& place, const Values& values)
      : PairBase(place, divided(values)), partitions_(static_cast<int>(values.integer("partitions"))) {}
  ~Partitioned() override {
    for (MPI_Request* request : {&outgoing_request_, &incoming_request_})
      if (*request != MPI_REQUEST_NULL) MPI_Request_free(request);
  }

  void prepare(int) override {
    if (outgoing_request_ != MPI_REQUEST_NULL) return;
    HOCKNEY_IF_MPI4(const auto count =
                        static_cast<MPI_Count>(block_.bytes / static_cast<std::uint64_t>(partitions_));
                    MPI_Psend_init(outgoing_.next(), partitions_, count, MPI_BYTE, partner_, tag,
                                   comm_.handle, MPI_INFO_NULL, &outgoing_request_);
                    MPI_Precv_init(incoming_.next(), partitions_, count, MPI_BYTE, partner_, tag,
                                   comm_.handle, MPI_INFO_NULL, &incoming_request_);)
  }

  void run() override {
    MPI_Start(&incoming_request_);
    if (first()) send();
    MPI_Wait(&incoming_request_, MPI_STATUS_IGNORE);
    if (!first()) send();
  }

  double operations() const override { return 2; }

 private:
  void send() {
    MPI_Start(&outgoing_request_);
    for (int i = 0; i < partitions_; ++i) HOCKNEY_IF_MPI4(MPI_Pready(i, outgoing_request_));
    MPI_Wait(&outgoing_request_, MPI_STATUS_IGNORE);
  }

  // Returns `values`. Throws InvalidCase if the partitions cannot have equal sizes; called before memory is
  // allocated.
  static const Values& divided(const Values& values) {
    require_mpi4("MPI_Psend_init", "pingpong");
    const std::int64_t partitions = values.integer("partitions");
    if (values.bytes() % static_cast<std::uint64_t>(partitions) != 0)
      throw InvalidCase("bytes=" + std::to_string(values.bytes()) + " is no multiple of partitions=" +
                        std::to_string(partitions) + " (they are of one length)");
#ifdef OMPI_MAJOR_VERSION
    if (values.bytes() / static_cast<std::uint64_t>(partitions) > INT_MAX)
      throw InvalidCase("partitions=" + std::to_string(partitions) +
                        " makes partitions of 2 GiB or more, with which Open MPI hangs; use more of them");
#endif
    return values;
  }

  const int partitions_;
  MPI_Request outgoing_request_ = MPI_REQUEST_NULL;
  MPI_Request incoming_request_ = MPI_REQUEST_NULL;
};

constexpr Parameter partitioned_parameters[] = {
    parameters::bytes("bytes in each message, a multiple of partitions", "partitions"),
    {"partitions", Kind::integer, "", "4", 1, 65536, "", "number of partitions of each message"}};

}  // namespace

extern constinit const WorkloadInfo partitioned{
    .name = "partitioned",
    .role = "point-to-point",
    .operation = "psend",
    .size = "bytes",
    .help = "ping-pong of partitioned messages: MPI_Psend_init, MPI_Precv_init, MPI_Pready of each part",
    .time = "one direction: half a round trip",
    .min_ranks = 2,
    .max_ranks = 2,
    .timing = Timing::root,
    .parameters = partitioned_parameters,
    .make = make<Partitioned>,
};

}  // namespace hockney::persistent
