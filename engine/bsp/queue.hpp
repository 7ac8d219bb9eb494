// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bsp/transport.hpp"

namespace hockney::bsp::inline v1 {

// The messages that a process has received, in their receive buffers.
class Queue {
 public:
  struct Entry {
    const std::byte* tag;
    std::size_t tag_bytes;
    const std::byte* payload;
    std::size_t payload_bytes;
  };

  // Takes the received blocks, which remain in place until drop().
  void fill(std::vector<Block>& blocks) {
    blocks_.swap(blocks);
    block_ = 0;
    at_ = 0;
    counted_ = false;
  }
  void drop() {
    blocks_.clear();
    block_ = 0;
    at_ = 0;
    counted_ = false;
  }

  bool empty() const { return block_ == blocks_.size(); }
  // The first message; the queue must not be empty.
  Entry front() const { return read_at(blocks_[block_].data + at_); }
  void pop() {
    const Entry entry = front();
    if (counted_) {
      --messages_;
      payload_bytes_ -= entry.payload_bytes;
    }
    at_ += size_of(entry);
    if (at_ == blocks_[block_].bytes) {
      ++block_;
      at_ = 0;
    }
  }

  std::size_t messages() {
    count();
    return messages_;
  }
  std::size_t payload_bytes() {
    count();
    return payload_bytes_;
  }

  static Entry read_at(const std::byte* at) {
    const auto record = read<MessageRecord>(at);
    const std::byte* const tag = at + sizeof record;
    return {tag, record.tag_bytes, tag + padded(record.tag_bytes), record.payload_bytes};
  }
  // Size of a message including its record.
  static std::size_t size_of(const Entry& entry) {
    return sizeof(MessageRecord) + padded(entry.tag_bytes) + padded(entry.payload_bytes);
  }

 private:
  // Counts only on request: a program that only takes messages until none remain need not pay for it.
  void count() {
    if (counted_) return;
    messages_ = payload_bytes_ = 0;
    for (std::size_t block = block_; block < blocks_.size(); ++block)
      for (std::size_t at = block == block_ ? at_ : 0; at < blocks_[block].bytes;) {
        const Entry entry = read_at(blocks_[block].data + at);
        ++messages_;
        payload_bytes_ += entry.payload_bytes;
        at += size_of(entry);
      }
    counted_ = true;
  }

  std::vector<Block> blocks_;
  std::size_t block_ = 0;  // block of the first message
  std::size_t at_ = 0;     // position in that block
  bool counted_ = false;
  std::size_t messages_ = 0;
  std::size_t payload_bytes_ = 0;
};

}  // namespace hockney::bsp::inline v1
