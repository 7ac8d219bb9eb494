// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "ensemble/redistribution.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "ensemble/tags.hpp"

namespace hockney::annealing {

std::vector<int> owners_by_blocks(const std::vector<int>& counts) {
  std::vector<int> owners;
  for (std::size_t rank = 0; rank < counts.size(); ++rank)
    owners.insert(owners.end(), static_cast<std::size_t>(counts[rank]), static_cast<int>(rank));
  return owners;
}

std::vector<int> redistribute_owners(const std::vector<int>& owners, const std::vector<int>& counts) {
  std::vector<int> preceding_word = owners;
  std::vector<int> capacities = counts;  // remaining capacity of each rank
  std::vector<std::size_t> moving_walkers;
  for (std::size_t walker = 0; walker < owners.size(); ++walker) {
    int& places = capacities[static_cast<std::size_t>(owners[walker])];
    if (places > 0)
      --places;
    else
      moving_walkers.push_back(walker);
  }
  std::size_t rank = 0;
  for (const std::size_t walker : moving_walkers) {
    while (capacities[rank] == 0) ++rank;
    preceding_word[walker] = static_cast<int>(rank);
    --capacities[rank];
  }
  return preceding_word;
}

int move_walkers(Walkers& walkers, const std::vector<int>& before, const std::vector<int>& preceding_word,
                 const Comm& comm) {
  const auto bytes = static_cast<int>(walkers.bytes());
  std::vector<std::vector<std::byte>> messages;
  std::vector<MPI_Request> requests;
  const auto message = [&] {
    requests.push_back(MPI_REQUEST_NULL);
    return messages.emplace_back(walkers.bytes()).data();
  };

  // Between two ranks, messages are sent and received in the order of the walkers' numbers.
  for (std::size_t i = 0; i < walkers.size(); ++i) {
    const int to = preceding_word[walkers[i].number];
    if (to == comm.rank) continue;
    std::byte* const data = message();
    walkers.save(i, data);
    MPI_Isend(data, bytes, MPI_BYTE, to, walker_tag, comm.handle, &requests.back());
  }
  const int sent = static_cast<int>(messages.size());
  std::vector<std::uint32_t> numbers;
  std::vector<std::pair<std::size_t, const std::byte*>> received_states;  // index, data
  for (std::size_t walker = 0; walker < preceding_word.size(); ++walker) {
    if (preceding_word[walker] != comm.rank) continue;
    if (before[walker] != comm.rank) {
      std::byte* const data = message();
      MPI_Irecv(data, bytes, MPI_BYTE, before[walker], walker_tag, comm.handle, &requests.back());
      received_states.emplace_back(numbers.size(), data);
    }
    numbers.push_back(static_cast<std::uint32_t>(walker));
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);

  walkers.reshape(numbers);
  for (const auto& [index, data] : received_states) walkers.load(index, data);
  return sent;
}

}  // namespace hockney::annealing
