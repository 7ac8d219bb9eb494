// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "bsp/packets.hpp"

#include <algorithm>

#include "bsp/headers.hpp"
#include "bsp/tags.hpp"

namespace hockney::bsp::inline v1 {
namespace {

// Buffers of at least this size are not kept from one superstep to the next.
constexpr std::size_t large = std::size_t{16} << 20;

void finish_all(const WaitPolicy& wait_policy, std::vector<MPI_Request>& requests) {
  if (requests.empty()) return;
  wait_policy.finish_all(static_cast<int>(requests.size()), requests.data());
  requests.clear();
}

}  // namespace

Packets::Packets(const Comm& comm, WaitPolicy wait_policy)
    : comm_(comm), wait_policy_(wait_policy), in_(static_cast<std::size_t>(comm.size)) {}

void Packets::send(const Outbox& outbox, int pid) {
  const std::byte* from = nullptr;
  std::size_t bytes = 0;
  int filled = 0;
  for (const Stream& stream : outbox.streams) {
    if (stream.heap_bytes() == 0) continue;
    from = stream.begin;
    bytes += stream.heap_bytes();
    ++filled;
  }
  if (filled > 1) {
    if (used_ == assembled_.size()) assembled_.emplace_back();
    Bytes& packet = assembled_[used_++];
    packet.replace(bytes);
    pack(outbox, packet.data());
    from = packet.data();
  }
  const hockney::Block data(bytes);
  MPI_Isend(from, data.count, data.type, pid, tags::packet, comm_.handle, &sending_.emplace_back());
}

void Packets::receive(int pid, std::size_t bytes) {
  Bytes& packet = in_[static_cast<std::size_t>(pid)];
  if (packet.capacity() > large && bytes <= large) packet.release();
  packet.replace(bytes);
  const hockney::Block data(bytes);
  MPI_Irecv(packet.data(), data.count, data.type, pid, tags::packet, comm_.handle,
            &receiving_.emplace_back());
}

void Packets::wait_received() {
  finish_all(wait_policy_, receiving_);
}

void Packets::wait_sent() {
  finish_all(wait_policy_, sending_);
  for (std::size_t k = 0; k < assembled_.size(); ++k)
    if (k >= used_ || assembled_[k].capacity() > large) assembled_[k].release();
  used_ = 0;
}

Packets::Reply& Packets::reply_of(std::vector<Reply>& replies, int pid, std::size_t bytes) const {
  if (replies.empty()) replies.resize(static_cast<std::size_t>(comm_.size));
  Reply& reply = replies[static_cast<std::size_t>(pid)];
  if (reply.bytes.capacity() > large && bytes <= large) reply.bytes.release();
  reply.size = bytes;
  reply.bytes.replace(bytes);
  return reply;
}

std::byte* Packets::reply_room(int pid, std::size_t bytes) {
  return reply_of(out_replies_, pid, bytes).bytes.data();
}

void Packets::send_reply(int pid) {
  const Reply& reply = out_replies_[static_cast<std::size_t>(pid)];
  const hockney::Block data(reply.size);
  MPI_Isend(reply.bytes.data(), data.count, data.type, pid, tags::reply, comm_.handle,
            &sending_.emplace_back());
}

void Packets::expect_reply(int pid, std::size_t bytes) {
  Reply& reply = reply_of(in_replies_, pid, bytes);
  const hockney::Block data(bytes);
  MPI_Irecv(reply.bytes.data(), data.count, data.type, pid, tags::reply, comm_.handle, &reply.request);
}

const std::byte* Packets::reply(int pid) {
  Reply& reply = in_replies_[static_cast<std::size_t>(pid)];
  wait_policy_.finish(reply.request);
  return reply.bytes.data();
}

}  // namespace hockney::bsp::inline v1
