// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "comm/comm.hpp"

namespace hockney::nonblocking {

// One rank's side of a flow of messages: `depth` slots, each with a posted receive. A message that arrives in
// a slot is answered by one in the same slot, so that up to `depth` messages are in flight in each direction.
class Flow {
 public:
  Flow(std::size_t depth, const Block& block, int partner, MPI_Comm handle)
      : depth_(depth),
        block_(block),
        partner_(partner),
        handle_(handle),
        requests_(2 * depth, MPI_REQUEST_NULL),
        owed_(depth, false),
        completed_indices_(2 * depth) {}

  bool open() const { return open_; }

  void post(std::byte* outgoing, std::byte* incoming) {
    outgoing_ = outgoing;
    incoming_ = incoming;
    open_ = true;
    received_counts_.assign(depth_, 0);
    sent_counts_.assign(depth_, 0);
    for (std::size_t slot = 0; slot < depth_; ++slot) receive(slot);
  }
  void send_all() {
    for (std::size_t slot = 0; slot < depth_; ++slot) send(slot);
  }

  // Answers all messages that have arrived.
  void poll() {
    int count = 0;
    MPI_Testsome(size(), requests_.data(), &count, completed_indices_.data(), MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; ++i)
      handle_completion(static_cast<std::size_t>(completed_indices_[static_cast<std::size_t>(i)]));
  }

  // Answers messages, without computing, until one with the tag `stop` arrives.
  void answer_until(int stop) {
    std::vector<MPI_Request> all(requests_.size() + 1);
    MPI_Irecv(nullptr, 0, MPI_BYTE, partner_, stop, handle_, &all.back());
    for (int index = 0;;) {
      std::copy(requests_.begin(), requests_.end(), all.begin());
      MPI_Waitany(static_cast<int>(all.size()), all.data(), &index, MPI_STATUS_IGNORE);
      std::copy(all.begin(), all.end() - 1, requests_.begin());
      if (index == size()) return;
      handle_completion(static_cast<std::size_t>(index));
    }
  }

  // Completes every message in flight. Called on both sides. Each side has one posted receive in each slot;
  // if no message is on its way to it, the partner sends one more.
  void close() {
    std::vector<std::uint64_t> partner_counts(2 * depth_);
    std::vector<std::uint64_t> own_counts = sent_counts_;
    own_counts.insert(own_counts.end(), received_counts_.begin(), received_counts_.end());
    const int count = static_cast<int>(own_counts.size());
    MPI_Sendrecv(own_counts.data(), count, MPI_UINT64_T, partner_, counts_tag, partner_counts.data(), count,
                 MPI_UINT64_T, partner_, counts_tag, handle_, MPI_STATUS_IGNORE);
    for (std::size_t slot = 0; slot < depth_; ++slot) {
      if (sent_counts_[slot] == partner_counts[depth_ + slot]) {
        MPI_Wait(&requests_[depth_ + slot], MPI_STATUS_IGNORE);
        send(slot);
      }
      const std::uint64_t required_count = std::max(partner_counts[slot], received_counts_[slot] + 1);
      for (;;) {
        MPI_Wait(&requests_[slot], MPI_STATUS_IGNORE);
        if (++received_counts_[slot] == required_count) break;
        receive(slot);
      }
    }
    MPI_Waitall(size(), requests_.data(), MPI_STATUSES_IGNORE);
    std::fill(owed_.begin(), owed_.end(), false);
    open_ = false;
  }

  // Number of messages since post().
  std::uint64_t messages() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : received_counts_) sum += count;
    return sum;
  }

 private:
  static constexpr int counts_tag = 2;
  static constexpr int first_tag = 100;

  int size() const { return static_cast<int>(requests_.size()); }
  int tag(std::size_t slot) const { return first_tag + static_cast<int>(slot); }

  void receive(std::size_t slot) {
    MPI_Irecv(incoming_ + slot * block_.bytes, block_.count, block_.type, partner_, tag(slot), handle_,
              &requests_[slot]);
  }
  void send(std::size_t slot) {
    ++sent_counts_[slot];
    MPI_Isend(outgoing_ + slot * block_.bytes, block_.count, block_.type, partner_, tag(slot), handle_,
              &requests_[depth_ + slot]);
  }

  // The slot's previous message may still be on its way; the answer then follows its completion.
  void handle_completion(std::size_t request) {
    const std::size_t slot = request % depth_;
    if (request < depth_) {
      ++received_counts_[slot];
      receive(slot);
      owed_[slot] = true;
    }
    if (!owed_[slot] || requests_[depth_ + slot] != MPI_REQUEST_NULL) return;
    owed_[slot] = false;
    send(slot);
  }

  const std::size_t depth_;
  const Block& block_;
  const int partner_;
  const MPI_Comm handle_;
  bool open_ = false;
  std::byte* outgoing_ = nullptr;
  std::byte* incoming_ = nullptr;
  std::vector<MPI_Request> requests_;  // the receives of all slots, then the sends
  std::vector<bool> owed_;
  std::vector<std::uint64_t> received_counts_;
  std::vector<std::uint64_t> sent_counts_;
  std::vector<int> completed_indices_;
};

}  // namespace hockney::nonblocking
