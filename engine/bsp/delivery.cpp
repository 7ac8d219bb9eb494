// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "bsp/delivery.hpp"

#include <algorithm>

#include "bsp/queue.hpp"
#include "bsp/tags.hpp"

namespace hockney::bsp::inline v1 {
namespace {

std::byte* memory(std::uint64_t address) {
  return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address));
}

// Calls visit(record, data) for each put of a block.
template <class Visit>
void for_each_put(const Block& block, Visit visit) {
  for (const std::byte *position = block.data, *const end = position + block.bytes; position < end;) {
    const auto record = read<PutRecord>(position);
    position += sizeof record;
    visit(record, position);
    if (!(record.bytes & separate)) position += record.bytes;
  }
}

// Larger buffers are freed if a superstep did not use them.
constexpr std::size_t max_retained_bytes = std::size_t{4} << 20;

}  // namespace

void Delivery::send_separately(int pid, const void* from, std::size_t bytes) {
  outgoing_separate_.push_back({pid, const_cast<std::byte*>(static_cast<const std::byte*>(from)), bytes});
}

void Delivery::send_copy(int pid, const void* from, std::size_t bytes) {
  std::byte* const copied = buffer(bytes);
  copy_bytes(copied, from, bytes);
  send_separately(pid, copied, bytes);
}

void Delivery::expect(int pid, void* to, std::size_t bytes) {
  if (requested_bytes_.empty()) requested_bytes_.resize(static_cast<std::size_t>(comm_.size));
  requested_bytes_[static_cast<std::size_t>(pid)] += bytes;
  gets_.push_back({pid, static_cast<std::byte*>(to), bytes});
}

void Delivery::expect_separately(int pid, void* to, std::size_t bytes) {
  incoming_separate_.push_back({pid, static_cast<std::byte*>(to), bytes});
}

// The smallest free buffer that is large enough, or a new one of this size.
std::byte* Delivery::buffer(std::size_t bytes) {
  std::size_t best = buffers_.size();
  for (std::size_t k = used_; k < buffers_.size(); ++k)
    if (buffers_[k].capacity() >= bytes &&
        (best == buffers_.size() || buffers_[k].capacity() < buffers_[best].capacity()))
      best = k;
  if (best == buffers_.size()) {
    buffers_.emplace_back();
    buffers_.back().replace(bytes);
  }
  std::swap(buffers_[used_], buffers_[best]);
  return buffers_[used_++].data();
}

void Delivery::start_send(const void* from, std::size_t bytes, int pid, int tag) {
  const hockney::Block data(bytes);
  MPI_Isend(from, data.count, data.type, pid, tag, comm_.handle, &requests_.emplace_back());
}

void Delivery::start_receive(void* to, std::size_t bytes, int pid, int tag) {
  const hockney::Block data(bytes);
  MPI_Irecv(to, data.count, data.type, pid, tag, comm_.handle, &requests_.emplace_back());
}

void Delivery::run(Transport& transport, const Incoming& incoming) {
  if (!gets_.empty())
    for (int pid = 0; pid < comm_.size; ++pid)
      if (pid != comm_.rank && requested_bytes_[static_cast<std::size_t>(pid)] > 0)
        transport.expect_reply(pid, requested_bytes_[static_cast<std::size_t>(pid)]);
  for (const SeparateData& each : incoming_separate_)
    start_receive(each.data, each.bytes, each.pid, tags::separate_get);
  for (const SeparateData& each : outgoing_separate_)
    start_send(each.data, each.bytes, each.pid, tags::separate_put);
  if (!incoming.blocks[requests].empty()) answer(transport, incoming);
  // From here on, other processes no longer read this process's memory, except sources of unbuffered gets.
  if (!incoming.separate.empty()) receive_separate(incoming);
  if (!gets_.empty()) write_gets(transport);
  write_puts(incoming);
  if (!requests_.empty()) {
    wait_policy_.finish_all(static_cast<int>(requests_.size()), requests_.data());
    requests_.clear();
  }
  clear();
}

void Delivery::clear() {
  gets_.clear();
  incoming_separate_.clear();
  outgoing_separate_.clear();
  staged_puts_.clear();
  for (std::size_t k = buffers_.size(); k-- > used_;)
    if (buffers_[k].capacity() > max_retained_bytes)
      buffers_.erase(buffers_.begin() + static_cast<std::ptrdiff_t>(k));
  used_ = 0;
}

// Answers the requests of other processes. Requests of one process may be in several adjacent blocks.
void Delivery::answer(Transport& transport, const Incoming& incoming) {
  const std::vector<Block>& blocks = incoming.blocks[requests];
  for (std::size_t first = 0, last; first < blocks.size(); first = last) {
    const int pid = blocks[first].pid;
    const auto for_each_request = [&](auto visit) {
      for (last = first; last < blocks.size() && blocks[last].pid == pid; ++last)
        for (std::size_t position = 0; position < blocks[last].bytes; position += sizeof(GetRecord))
          visit(read<GetRecord>(blocks[last].data + position));
    };
    std::size_t bytes = 0;
    for_each_request([&](const GetRecord& get) {
      if (get.bytes & separate)
        start_send(memory(get.from), get.bytes & size_mask, pid, tags::separate_get);
      else
        bytes += get.bytes;
    });
    if (bytes == 0) continue;
    const bool own = pid == comm_.rank;
    if (own) self_reply_.replace(bytes);
    std::byte* position = own ? self_reply_.data() : transport.reply_room(pid, bytes);
    for_each_request([&](const GetRecord& get) {
      if (get.bytes & separate) return;
      copy_bytes(position, memory(get.from), get.bytes);
      position += get.bytes;
    });
    if (!own) transport.send_reply(pid);
  }
}

// Receives directly into the target memory, if no other operation of this superstep affects it.
void Delivery::receive_separate(const Incoming& incoming) {
  for (const Block& block : incoming.blocks[puts]) {
    if (!std::binary_search(incoming.separate.begin(), incoming.separate.end(), block.pid)) continue;
    for_each_put(block, [&](const PutRecord& put, const std::byte*) {
      if (!(put.bytes & separate)) return;
      const std::size_t bytes = put.bytes & size_mask;
      std::byte* to = memory(put.to);
      if (put.bytes & in_order) {
        const bool needs_staging = interferes(incoming, put.to, bytes);
        if (needs_staging) to = buffer(bytes);
        staged_puts_.push_back({needs_staging ? to : nullptr, requests_.size()});
      }
      start_receive(to, bytes, block.pid, tags::separate_put);
    });
  }
}

// Whether another put, or a get of this process, writes to a part of this memory. With very many records, the
// search is not worth its time.
bool Delivery::interferes(const Incoming& incoming, std::uint64_t to, std::uint64_t bytes) const {
  constexpr std::size_t max_records = 100'000;
  const auto overlaps = [=](std::uint64_t other, std::uint64_t size) {
    return other < to + bytes && to < other + size;
  };
  if (gets_.size() > max_records) return true;
  for (const Get& get : gets_)
    if (overlaps(reinterpret_cast<std::uintptr_t>(get.to), get.bytes)) return true;
  int found = 0;  // includes this put
  std::size_t inspected = 0;
  for (const Block& block : incoming.blocks[puts]) {
    if (inspected > max_records || found > 1) break;
    for_each_put(block, [&](const PutRecord& put, const std::byte*) {
      ++inspected;
      if (overlaps(put.to, put.bytes & size_mask)) ++found;
    });
  }
  return found > 1 || inspected > max_records;
}

void Delivery::write_gets(Transport& transport) {
  replies_.assign(static_cast<std::size_t>(comm_.size), nullptr);
  for (const Get& get : gets_) {
    const auto pid = static_cast<std::size_t>(get.pid);
    if (!replies_[pid]) replies_[pid] = get.pid == comm_.rank ? self_reply_.data() : transport.reply(get.pid);
    copy_bytes(get.to, replies_[pid], get.bytes);
    replies_[pid] += get.bytes;
    requested_bytes_[pid] = 0;
  }
}

void Delivery::write_puts(const Incoming& incoming) {
  std::size_t next = 0;
  for (const Block& block : incoming.blocks[puts])
    for_each_put(block, [&](const PutRecord& put, const std::byte* data) {
      if (!(put.bytes & separate)) {
        copy_bytes(memory(put.to), data, put.bytes);
        return;
      }
      if (!(put.bytes & in_order)) return;
      const StagedPut& needs_staging = staged_puts_[next++];
      if (!needs_staging.data) return;
      wait_policy_.finish(requests_[needs_staging.request]);
      copy_bytes(memory(put.to), needs_staging.data, put.bytes & size_mask);
    });
}

Delivery::Traffic Delivery::traffic(const Incoming& incoming) const {
  Traffic traffic;
  traffic.packets_in = incoming.packets + incoming_separate_.size();
  traffic.packets_out = outgoing_separate_.size();
  for (const Get& get : gets_) {
    if (get.pid == comm_.rank) continue;
    traffic.bytes_in += get.bytes;
    ++traffic.arrived_records;
  }
  for (const SeparateData& get : incoming_separate_) traffic.bytes_in += get.bytes;
  traffic.arrived_records += incoming_separate_.size();
  for (std::size_t pid = 0; pid < requested_bytes_.size(); ++pid)
    if (requested_bytes_[pid] > 0 && static_cast<int>(pid) != comm_.rank) ++traffic.packets_in;
  for (const Block& block : incoming.blocks[puts]) {
    if (block.pid == comm_.rank) continue;
    for_each_put(block, [&](const PutRecord& put, const std::byte*) {
      traffic.bytes_in += put.bytes & size_mask;
      ++traffic.arrived_records;
      if (put.bytes & separate) ++traffic.packets_in;
    });
  }
  for (const Block& block : incoming.blocks[messages])
    for (std::size_t position = 0; position < block.bytes && block.pid != comm_.rank;) {
      const Queue::Entry entry = Queue::read_at(block.data + position);
      traffic.bytes_in += entry.tag_bytes + entry.payload_bytes;
      ++traffic.arrived_records;
      position += Queue::size_of(entry);
    }
  int answered_pid = comm_.rank;
  for (const Block& block : incoming.blocks[requests])
    for (std::size_t position = 0; position < block.bytes && block.pid != comm_.rank;
         position += sizeof(GetRecord)) {
      const auto get = read<GetRecord>(block.data + position);
      traffic.bytes_out += get.bytes & size_mask;
      ++traffic.answered_requests;
      if (get.bytes & separate)
        ++traffic.packets_out;
      else if (block.pid != answered_pid)
        ++traffic.packets_out;
      if (!(get.bytes & separate)) answered_pid = block.pid;
    }
  traffic.arrived_records += traffic.answered_requests;
  return traffic;
}

}  // namespace hockney::bsp::inline v1
