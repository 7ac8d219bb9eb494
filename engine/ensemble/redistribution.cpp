// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "ensemble/redistribution.hpp"

#include <cstddef>
#include <cstdint>
#include <numeric>

#include "ensemble/tags.hpp"

namespace hockney::annealing {
namespace {

// The first walker of each rank, and behind the last one of all.
std::vector<int> starts(const std::vector<int>& counts) {
  std::vector<int> first(counts.size() + 1);
  std::partial_sum(counts.begin(), counts.end(), first.begin() + 1);
  return first;
}

// Which rank has a walker, when walkers are asked for in increasing order.
class Owner final {
 public:
  explicit Owner(const std::vector<int>& first) : first_(first) {}
  int of(int walker) {
    while (first_[rank_ + 1] <= walker) ++rank_;
    return static_cast<int>(rank_);
  }

 private:
  const std::vector<int>& first_;
  std::size_t rank_ = 0;
};

}  // namespace

int move_walkers(Walkers& walkers, const std::vector<int>& before, const std::vector<int>& after,
                 const Comm& comm) {
  const std::vector<int> first_before = starts(before);
  const std::vector<int> first_after = starts(after);
  const auto rank = static_cast<std::size_t>(comm.rank);
  const std::size_t bytes = walkers.bytes();
  std::vector<std::vector<std::byte>> messages;
  std::vector<MPI_Request> requests;

  Owner receiver(first_after);
  for (int walker = first_before[rank]; walker < first_before[rank + 1]; ++walker) {
    const int to = receiver.of(walker);
    if (to == comm.rank) continue;
    std::vector<std::byte>& message = messages.emplace_back(bytes);
    walkers.save(static_cast<std::size_t>(walker - first_before[rank]), message.data());
    MPI_Isend(message.data(), static_cast<int>(bytes), MPI_BYTE, to, walker_tag, comm.handle,
              &requests.emplace_back());
  }
  const int sent = static_cast<int>(messages.size());

  // Between two ranks messages arrive in the order of the walkers' numbers, in which they were sent.
  std::vector<std::pair<int, std::size_t>> arriving;  // walker, message
  Owner sender(first_before);
  for (int walker = first_after[rank]; walker < first_after[rank + 1]; ++walker) {
    const int from = sender.of(walker);
    if (from == comm.rank) continue;
    arriving.emplace_back(walker, messages.size());
    std::vector<std::byte>& message = messages.emplace_back(bytes);
    MPI_Irecv(message.data(), static_cast<int>(bytes), MPI_BYTE, from, walker_tag, comm.handle,
              &requests.emplace_back());
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);

  walkers.reshape(static_cast<std::uint32_t>(first_after[rank]), static_cast<std::size_t>(after[rank]));
  for (const auto& [walker, message] : arriving)
    walkers.load(static_cast<std::size_t>(walker - first_after[rank]), messages[message].data());
  return sent;
}

}  // namespace hockney::annealing
