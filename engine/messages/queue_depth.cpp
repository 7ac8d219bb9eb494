// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "measure/pair_base.hpp"
#include "measure/parameters.hpp"

namespace hockney::messages {
namespace {

// A ping-pong with `depth` other entries in the matching queues: either posted receives for messages that are
// never sent, or unexpected messages for which no receive is posted. Their tags differ from those of the
// ping-pong, and they stay queued for the lifetime of the workload.
class QueueDepth final : public PairBase {
 public:
  QueueDepth(const Place& place, const Values& values)
      : PairBase(place, values),
        is_posted_(values.word("queue") == "posted"),
        depth_(static_cast<std::size_t>(values.integer("depth"))) {}
  ~QueueDepth() override {
    if (requests_.empty()) return;
    if (is_posted_)
      for (std::size_t i = 0; i < depth_; ++i)
        MPI_Isend(nullptr, 0, MPI_BYTE, partner_, queue_tag(i), comm_.handle, &requests_[depth_ + i]);
    else
      for (std::size_t i = 0; i < depth_; ++i)
        MPI_Irecv(nullptr, 0, MPI_BYTE, partner_, queue_tag(i), comm_.handle, &requests_[depth_ + i]);
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

  void prepare(int) override {
    if (!requests_.empty() || depth_ == 0) return;
    requests_.resize(2 * depth_, MPI_REQUEST_NULL);
    for (std::size_t i = 0; i < depth_; ++i) {
      if (is_posted_)
        MPI_Irecv(nullptr, 0, MPI_BYTE, partner_, queue_tag(i), comm_.handle, &requests_[i]);
      else
        MPI_Isend(nullptr, 0, MPI_BYTE, partner_, queue_tag(i), comm_.handle, &requests_[i]);
    }
    // Messages do not overtake each other, so the arrival of a later message proves that these have arrived.
    MPI_Sendrecv(nullptr, 0, MPI_BYTE, partner_, tag, nullptr, 0, MPI_BYTE, partner_, tag, comm_.handle,
                 MPI_STATUS_IGNORE);
  }

  void run() override {
    std::byte* const out = outgoing_.next();
    std::byte* const in = incoming_.next();
    if (first()) {
      MPI_Send(out, block_.count, block_.type, partner_, tag, comm_.handle);
      MPI_Recv(in, block_.count, block_.type, partner_, tag, comm_.handle, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(in, block_.count, block_.type, partner_, tag, comm_.handle, MPI_STATUS_IGNORE);
      MPI_Send(out, block_.count, block_.type, partner_, tag, comm_.handle);
    }
  }

  double operations() const override { return 2; }

 private:
  static int queue_tag(std::size_t index) { return tag + 100 + static_cast<int>(index); }

  const bool is_posted_;
  const std::size_t depth_;
  std::vector<MPI_Request> requests_;
};

constexpr Parameter queue_depth_parameters[] = {
    parameters::bytes("bytes in each message"),
    {"depth", Kind::integer, "", "16", 0, 30000, "", "other entries in the matching queue"},
    {"queue", Kind::choice, "", "posted", 0, 0, "posted|unexpected",
     "posted: receives for messages that are never sent; unexpected: messages without a receive"}};

}  // namespace

extern constinit const WorkloadInfo queue_depth{
    .name = "queue_depth",
    .role = "messages",
    .operation = "matching",
    .size = "depth",
    .help = "ping-pong with many posted receives or unexpected messages in the matching queue",
    .time = "one direction: half a round trip",
    .min_ranks = 2,
    .max_ranks = 2,
    .timing = Timing::root,
    .parameters = queue_depth_parameters,
    .make = make<QueueDepth>,
};

}  // namespace hockney::messages
