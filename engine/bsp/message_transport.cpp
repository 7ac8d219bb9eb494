// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "bsp/headers.hpp"
#include "bsp/packets.hpp"
#include "bsp/transports.hpp"

namespace hockney::bsp::inline v1 {
namespace {

// Exchanges headers, then sends one message between each pair of processes whose data do not fit into the
// header.
class MessageTransport final : public Transport {
 public:
  MessageTransport(const Comm& comm, WaitPolicy wait_policy, std::unique_ptr<HeaderExchange> headers)
      : comm_(comm), headers_(std::move(headers)), packets_(comm, wait_policy) {}

  const char* name() const override { return headers_->name(); }

  void grow(int, Kind, Stream& stream, std::size_t bytes) override { stream.grow_heap(bytes); }
  bool appends(std::size_t) const override { return false; }

  Disagreement exchange(const Agreement& agreement, std::vector<Outbox>& outboxes,
                        std::span<const int> active, Incoming& incoming) override {
    Disagreement disagreement;
    const auto arrived_headers = headers_->run(agreement, active, outboxes, disagreement);
    if (disagreement) return disagreement;
    for (const PairHeader* header : arrived_headers)
      if (!header->complete()) packets_.receive(header->source, header->total());
    send(outboxes, active);
    packets_.wait_received();

    const Outbox& own = outboxes[static_cast<std::size_t>(comm_.rank)];
    bool self_added = !own.active;
    for (const PairHeader* header : arrived_headers) {
      if (!self_added && header->source > comm_.rank) {
        incoming.add_from_self(comm_.rank, own);
        self_added = true;
      }
      const int pid = header->source;
      incoming.add(pid, header->complete() ? header->data : packets_.data(pid), header->bytes);
      if (header->separate_puts > 0) incoming.separate.push_back(pid);
      ++incoming.packets;
    }
    if (!self_added) incoming.add_from_self(comm_.rank, own);
    return {};
  }

  std::byte* reply_room(int pid, std::size_t bytes) override { return packets_.reply_room(pid, bytes); }
  void send_reply(int pid) override { packets_.send_reply(pid); }
  void expect_reply(int pid, std::size_t bytes) override { packets_.expect_reply(pid, bytes); }
  const std::byte* reply(int pid) override { return packets_.reply(pid); }
  void finish() override { packets_.wait_sent(); }

 private:
  // Each process starts with the next higher one, so that no process receives from all others at the same
  // time.
  void send(const std::vector<Outbox>& outboxes, std::span<const int> active) {
    order_.clear();
    for (const int pid : active) {
      const Outbox& outbox = outboxes[static_cast<std::size_t>(pid)];
      std::size_t bytes = 0;
      for (const Stream& stream : outbox.streams) bytes += stream.heap_bytes();
      if (pid != comm_.rank && bytes > inline_bytes)
        order_.push_back((pid - comm_.rank + comm_.size) % comm_.size);
    }
    std::sort(order_.begin(), order_.end());
    for (const int distance : order_) {
      const int pid = (comm_.rank + distance) % comm_.size;
      packets_.send(outboxes[static_cast<std::size_t>(pid)], pid);
    }
  }

  const Comm& comm_;
  std::unique_ptr<HeaderExchange> headers_;
  Packets packets_;
  std::vector<int> order_;
};

}  // namespace

std::unique_ptr<Transport> message_transport(const Comm& comm, WaitPolicy wait_policy, Headers headers) {
  return std::make_unique<MessageTransport>(
      comm, wait_policy,
      headers == Headers::log ? log_headers(comm, wait_policy) : alltoall_headers(comm, wait_policy));
}

}  // namespace hockney::bsp::inline v1
