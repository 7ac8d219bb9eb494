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
void each_put(const Block& block, Visit visit) {
  for (const std::byte *at = block.data, *const end = at + block.bytes; at < end;) {
    const auto record = read<PutRecord>(at);
    at += sizeof record;
    visit(record, at);
    if (!(record.bytes & apart)) at += record.bytes;
  }
}

// Buffers that were not used in a superstep are freed if they are larger.
constexpr std::size_t kept_bytes = std::size_t{4} << 20;

}  // namespace

void Delivery::send_apart(int pid, const void* from, std::size_t bytes) {
  apart_out_.push_back({pid, const_cast<std::byte*>(static_cast<const std::byte*>(from)), bytes});
}

void Delivery::send_copy(int pid, const void* from, std::size_t bytes) {
  std::byte* const copied = buffer(bytes);
  copy_bytes(copied, from, bytes);
  send_apart(pid, copied, bytes);
}

void Delivery::expect(int pid, void* to, std::size_t bytes) {
  if (asked_.empty()) asked_.resize(static_cast<std::size_t>(comm_.size));
  asked_[static_cast<std::size_t>(pid)] += bytes;
  gets_.push_back({pid, static_cast<std::byte*>(to), bytes});
}

void Delivery::expect_apart(int pid, void* to, std::size_t bytes) {
  apart_in_.push_back({pid, static_cast<std::byte*>(to), bytes});
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
      if (pid != comm_.rank && asked_[static_cast<std::size_t>(pid)] > 0)
        transport.expect_reply(pid, asked_[static_cast<std::size_t>(pid)]);
  for (const Apart& each : apart_in_) start_receive(each.data, each.bytes, each.pid, tags::apart_get);
  for (const Apart& each : apart_out_) start_send(each.data, each.bytes, each.pid, tags::apart_put);
  if (!incoming.blocks[requests].empty()) answer(transport, incoming);
  // From here on this process has nothing that others will still read, except sources of unbuffered gets.
  if (!incoming.apart.empty()) receive_apart(incoming);
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
  apart_in_.clear();
  apart_out_.clear();
  detours_.clear();
  for (std::size_t k = buffers_.size(); k-- > used_;)
    if (buffers_[k].capacity() > kept_bytes)
      buffers_.erase(buffers_.begin() + static_cast<std::ptrdiff_t>(k));
  used_ = 0;
}

// Reads what others have asked for. Requests of one process may be in several blocks, which are adjacent.
void Delivery::answer(Transport& transport, const Incoming& incoming) {
  const std::vector<Block>& blocks = incoming.blocks[requests];
  for (std::size_t first = 0, last; first < blocks.size(); first = last) {
    const int pid = blocks[first].pid;
    const auto each_request = [&](auto visit) {
      for (last = first; last < blocks.size() && blocks[last].pid == pid; ++last)
        for (std::size_t at = 0; at < blocks[last].bytes; at += sizeof(GetRecord))
          visit(read<GetRecord>(blocks[last].data + at));
    };
    std::size_t bytes = 0;
    each_request([&](const GetRecord& get) {
      if (get.bytes & apart)
        start_send(memory(get.from), get.bytes & size_mask, pid, tags::apart_get);
      else
        bytes += get.bytes;
    });
    if (bytes == 0) continue;
    const bool own = pid == comm_.rank;
    if (own) own_reply_.replace(bytes);
    std::byte* at = own ? own_reply_.data() : transport.reply_room(pid, bytes);
    each_request([&](const GetRecord& get) {
      if (get.bytes & apart) return;
      copy_bytes(at, memory(get.from), get.bytes);
      at += get.bytes;
    });
    if (!own) transport.send_reply(pid);
  }
}

// Straight to where they belong, if nothing else of this superstep concerns that memory.
void Delivery::receive_apart(const Incoming& incoming) {
  for (const Block& block : incoming.blocks[puts]) {
    if (!std::binary_search(incoming.apart.begin(), incoming.apart.end(), block.pid)) continue;
    each_put(block, [&](const PutRecord& put, const std::byte*) {
      if (!(put.bytes & apart)) return;
      const std::size_t bytes = put.bytes & size_mask;
      std::byte* to = memory(put.to);
      if (put.bytes & in_order) {
        const bool detour = interferes(incoming, put.to, bytes);
        if (detour) to = buffer(bytes);
        detours_.push_back({detour ? to : nullptr, requests_.size()});
      }
      start_receive(to, bytes, block.pid, tags::apart_put);
    });
  }
}

// Whether another put, or a get of this process, writes a part of this memory. If there are very many, it is
// not worth looking.
bool Delivery::interferes(const Incoming& incoming, std::uint64_t to, std::uint64_t bytes) const {
  constexpr std::size_t most = 100'000;
  const auto overlaps = [=](std::uint64_t other, std::uint64_t size) {
    return other < to + bytes && to < other + size;
  };
  if (gets_.size() > most) return true;
  for (const Get& get : gets_)
    if (overlaps(reinterpret_cast<std::uintptr_t>(get.to), get.bytes)) return true;
  int found = 0;  // this put itself is one
  std::size_t seen = 0;
  for (const Block& block : incoming.blocks[puts]) {
    if (seen > most || found > 1) break;
    each_put(block, [&](const PutRecord& put, const std::byte*) {
      ++seen;
      if (overlaps(put.to, put.bytes & size_mask)) ++found;
    });
  }
  return found > 1 || seen > most;
}

void Delivery::write_gets(Transport& transport) {
  replies_.assign(static_cast<std::size_t>(comm_.size), nullptr);
  for (const Get& get : gets_) {
    const auto pid = static_cast<std::size_t>(get.pid);
    if (!replies_[pid]) replies_[pid] = get.pid == comm_.rank ? own_reply_.data() : transport.reply(get.pid);
    copy_bytes(get.to, replies_[pid], get.bytes);
    replies_[pid] += get.bytes;
    asked_[pid] = 0;
  }
}

void Delivery::write_puts(const Incoming& incoming) {
  std::size_t next = 0;
  for (const Block& block : incoming.blocks[puts])
    each_put(block, [&](const PutRecord& put, const std::byte* data) {
      if (!(put.bytes & apart)) {
        copy_bytes(memory(put.to), data, put.bytes);
        return;
      }
      if (!(put.bytes & in_order)) return;
      const Detour& detour = detours_[next++];
      if (!detour.data) return;
      wait_policy_.finish(requests_[detour.request]);
      copy_bytes(memory(put.to), detour.data, put.bytes & size_mask);
    });
}

Delivery::Traffic Delivery::traffic(const Incoming& incoming) const {
  Traffic traffic;
  traffic.packets_in = incoming.packets + apart_in_.size();
  traffic.packets_out = apart_out_.size();
  for (const Get& get : gets_) {
    if (get.pid == comm_.rank) continue;
    traffic.bytes_in += get.bytes;
    ++traffic.arrived;
  }
  for (const Apart& get : apart_in_) traffic.bytes_in += get.bytes;
  traffic.arrived += apart_in_.size();
  for (std::size_t pid = 0; pid < asked_.size(); ++pid)
    if (asked_[pid] > 0 && static_cast<int>(pid) != comm_.rank) ++traffic.packets_in;
  for (const Block& block : incoming.blocks[puts]) {
    if (block.pid == comm_.rank) continue;
    each_put(block, [&](const PutRecord& put, const std::byte*) {
      traffic.bytes_in += put.bytes & size_mask;
      ++traffic.arrived;
      if (put.bytes & apart) ++traffic.packets_in;
    });
  }
  for (const Block& block : incoming.blocks[messages])
    for (std::size_t at = 0; at < block.bytes && block.pid != comm_.rank;) {
      const Queue::Entry entry = Queue::read_at(block.data + at);
      traffic.bytes_in += entry.tag_bytes + entry.payload_bytes;
      ++traffic.arrived;
      at += Queue::size_of(entry);
    }
  int answered = comm_.rank;
  for (const Block& block : incoming.blocks[requests])
    for (std::size_t at = 0; at < block.bytes && block.pid != comm_.rank; at += sizeof(GetRecord)) {
      const auto get = read<GetRecord>(block.data + at);
      traffic.bytes_out += get.bytes & size_mask;
      ++traffic.answered;
      if (get.bytes & apart)
        ++traffic.packets_out;
      else if (block.pid != answered)
        ++traffic.packets_out;
      if (!(get.bytes & apart)) answered = block.pid;
    }
  traffic.arrived += traffic.answered;
  return traffic;
}

}  // namespace hockney::bsp::inline v1
