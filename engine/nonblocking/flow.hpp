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
        done_(2 * depth) {}

  bool open() const { return open_; }

  void post(std::byte* out, std::byte* in) {
    out_ = out;
    in_ = in;
    open_ = true;
    received_.assign(depth_, 0);
    sent_.assign(depth_, 0);
    for (std::size_t slot = 0; slot < depth_; ++slot) receive(slot);
  }
  void send_all() {
    for (std::size_t slot = 0; slot < depth_; ++slot) send(slot);
  }

  // Answers what has arrived.
  void poll() {
    int count = 0;
    MPI_Testsome(size(), requests_.data(), &count, done_.data(), MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; ++i) completed(static_cast<std::size_t>(done_[static_cast<std::size_t>(i)]));
  }

  // Answers whatever arrives, without computing, until a message with the tag `stop` does.
  void serve(int stop) {
    std::vector<MPI_Request> all(requests_.size() + 1);
    MPI_Irecv(nullptr, 0, MPI_BYTE, partner_, stop, handle_, &all.back());
    for (int at = 0;;) {
      std::copy(requests_.begin(), requests_.end(), all.begin());
      MPI_Waitany(static_cast<int>(all.size()), all.data(), &at, MPI_STATUS_IGNORE);
      std::copy(all.begin(), all.end() - 1, requests_.begin());
      if (at == size()) return;
      completed(static_cast<std::size_t>(at));
    }
  }

  // On both sides: completes every message in flight. Each side has one posted receive in each slot; if no
  // message is on its way to it, the partner sends one more.
  void close() {
    std::vector<std::uint64_t> theirs(2 * depth_);
    std::vector<std::uint64_t> ours = sent_;
    ours.insert(ours.end(), received_.begin(), received_.end());
    const int count = static_cast<int>(ours.size());
    MPI_Sendrecv(ours.data(), count, MPI_UINT64_T, partner_, counts_tag, theirs.data(), count, MPI_UINT64_T,
                 partner_, counts_tag, handle_, MPI_STATUS_IGNORE);
    for (std::size_t slot = 0; slot < depth_; ++slot) {
      if (sent_[slot] == theirs[depth_ + slot]) {
        MPI_Wait(&requests_[depth_ + slot], MPI_STATUS_IGNORE);
        send(slot);
      }
      const std::uint64_t due = std::max(theirs[slot], received_[slot] + 1);
      for (;;) {
        MPI_Wait(&requests_[slot], MPI_STATUS_IGNORE);
        if (++received_[slot] == due) break;
        receive(slot);
      }
    }
    MPI_Waitall(size(), requests_.data(), MPI_STATUSES_IGNORE);
    std::fill(owed_.begin(), owed_.end(), false);
    open_ = false;
  }

  // Since post().
  std::uint64_t messages() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : received_) sum += count;
    return sum;
  }

 private:
  static constexpr int counts_tag = 2;
  static constexpr int first_tag = 100;

  int size() const { return static_cast<int>(requests_.size()); }
  int tag(std::size_t slot) const { return first_tag + static_cast<int>(slot); }

  void receive(std::size_t slot) {
    MPI_Irecv(in_ + slot * block_.bytes, block_.count, block_.type, partner_, tag(slot), handle_,
              &requests_[slot]);
  }
  void send(std::size_t slot) {
    ++sent_[slot];
    MPI_Isend(out_ + slot * block_.bytes, block_.count, block_.type, partner_, tag(slot), handle_,
              &requests_[depth_ + slot]);
  }

  // The previous message of the slot may still be on its way; then the answer follows its completion.
  void completed(std::size_t request) {
    const std::size_t slot = request % depth_;
    if (request < depth_) {
      ++received_[slot];
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
  std::byte* out_ = nullptr;
  std::byte* in_ = nullptr;
  std::vector<MPI_Request> requests_;  // of every slot the receive, then of every slot the send
  std::vector<bool> owed_;
  std::vector<std::uint64_t> received_;
  std::vector<std::uint64_t> sent_;
  std::vector<int> done_;
};

}  // namespace hockney::nonblocking
