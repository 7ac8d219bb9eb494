// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <numeric>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "measure/buffer.hpp"
#include "measure/checking.hpp"
#include "measure/parameters.hpp"
#include "measure/workload.hpp"

namespace hockney::messages {
namespace {

// Each run has different partners, drawn from the seed and the same on all ranks:
//    ring   the ranks form a ring in a random order, and each sends to the next
//    one    they form random pairs, of which one rank sends and the other receives
//    both   both ranks of each pair send
// Orders are drawn before the clock is read, and used in turn. In pairs of an odd number of ranks one is
// idle.
class RandomExchange final : public Workload {
 public:
  RandomExchange(const Place& place, const Values& values)
      : comm_(place.comm),
        block_(values.bytes()),
        turns_(drawn(place.comm, values.word("pattern"), static_cast<std::uint64_t>(values.integer("seed")))),
        outgoing_(place.arena, values.bytes(), "hot"),
        incoming_(place.arena, values.bytes(), "hot") {}

  void run() override {
    index_ = (index_ + 1) % turns_.size();
    const Turn turn = turns_[index_];
    MPI_Request receiving = MPI_REQUEST_NULL;
    MPI_Irecv(incoming_.next(), block_.count, block_.type, turn.from, tag, comm_.handle, &receiving);
    MPI_Send(outgoing_.next(), block_.count, block_.type, turn.to, tag, comm_.handle);
    MPI_Wait(&receiving, MPI_STATUS_IGNORE);
  }

  void fill(const Payload& payload) override {
    write_bytes(outgoing_.upcoming(), payload, static_cast<std::uint64_t>(comm_.rank));
    spoil(incoming_.upcoming(), payload);
  }

  // Valid after a single run, whose partners are known.
  Check verify(const Payload& payload) override {
    const int from = turns_[index_].from;
    if (from == MPI_PROC_NULL) return {};
    return check_bytes(incoming_.current(), payload, static_cast<std::uint64_t>(from),
                       "a random rank's message");
  }

  bool keeps_payload() const override { return false; }
  std::uint64_t bytes_moved() const override { return block_.bytes; }

 private:
  struct Turn {
    int to = MPI_PROC_NULL;
    int from = MPI_PROC_NULL;
  };
  static constexpr int tag = 1;
  static constexpr std::size_t order_count = 64;

  static std::vector<Turn> drawn(const Comm& comm, const std::string& pattern, std::uint64_t seed) {
    std::vector<int> order(static_cast<std::size_t>(comm.size));
    std::iota(order.begin(), order.end(), 0);
    std::vector<Turn> turns;
    for (std::size_t turn = 0; turn < order_count; ++turn) {
      for (std::size_t remaining = order.size(); remaining > 1; --remaining)
        std::swap(order[remaining - 1], order[mix(mix(seed ^ mix(turn)) ^ remaining) % remaining]);
      turns.push_back(pattern == "ring" ? in_ring(order, comm.rank)
                                        : in_pair(order, comm.rank, pattern == "both"));
    }
    return turns;
  }
  static std::size_t place_of(const std::vector<int>& order, int rank) {
    std::size_t place = 0;
    while (order[place] != rank) ++place;
    return place;
  }
  static Turn in_ring(const std::vector<int>& order, int rank) {
    const std::size_t place = place_of(order, rank), size = order.size();
    return {order[(place + 1) % size], order[(place + size - 1) % size]};
  }
  static Turn in_pair(const std::vector<int>& order, int rank, bool both) {
    const std::size_t place = place_of(order, rank), partner = place ^ 1U;
    if (partner >= order.size()) return {};
    const bool sends = both || place < partner, receives = both || place > partner;
    return {sends ? order[partner] : MPI_PROC_NULL, receives ? order[partner] : MPI_PROC_NULL};
  }

  const Comm& comm_;
  const Block block_;
  const std::vector<Turn> turns_;
  Buffer outgoing_;
  IncomingBuffer incoming_;
  std::size_t index_ = 0;
};

constexpr Parameter random_exchange_parameters[] = {
    parameters::bytes("bytes in each message"),
    {"pattern", Kind::choice, "", "ring", 0, 0, "ring|one|both",
     "ring: each rank sends to the next one in a randomly ordered ring; one: one rank of "
     "each random pair sends; both: both ranks of each random pair send"},
    {"seed", Kind::integer, "", "1", 0, 1e15, "", "seed of the random choice of partners"},
    parameters::sync};

}  // namespace

extern constinit const WorkloadInfo random_exchange{
    .name = "random_exchange",
    .role = "exchange",
    .operation = "random_exchange",
    .size = "bytes",
    .help =
        "messages between partners that are chosen at random for each repetition (MPI_Irecv, "
        "MPI_Send)",
    .time = "the maximum over the ranks",
    .min_ranks = 2,
    .timing = Timing::longest,
    .parameters = random_exchange_parameters,
    .make = make<RandomExchange>,
};

}  // namespace hockney::messages
