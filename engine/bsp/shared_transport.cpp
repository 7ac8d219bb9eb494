// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// Outboxes are written into memory that their receivers read. Each process has a segment with a mailbox for
// each other process, and an arena from which streams take chunks. Both exist twice, for odd and for even
// supersteps, so one synchronisation in each superstep is enough: a process writes into the half of superstep
// s again in superstep s + 2, which it begins after all others have ended superstep s + 1, and no longer read
// it.
//
// Synchronisation is the number of the exchange in the mailbox of every pair, so the data that it announces
// are next to it. What does not fit into the arena follows as an MPI message.
#include <sys/statvfs.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <new>
#include <optional>

#include "base/invalid_case.hpp"
#include "bsp/packets.hpp"
#include "bsp/tags.hpp"
#include "bsp/transports.hpp"
#include "comm/shared.hpp"

namespace hockney::bsp::inline v1 {
namespace {

constexpr std::size_t smallest_chunk = 1024, largest_chunk = std::size_t{64} << 10;
constexpr std::size_t min_arena = std::size_t{64} << 10, default_arena = std::size_t{8} << 20;
constexpr std::size_t line = 64;

struct alignas(line) Mailbox {
  std::atomic<std::uint64_t> exchange;  // written last
  Agreement agreement;
  std::uint64_t first[kinds];      // offsets of chunks in the segment
  std::uint32_t inline_put_bytes;  // bytes of puts in `data`, which precede those in chunks
  std::uint16_t separate_puts;     // whether there are any
  std::uint16_t has_more;          // whether an MPI message follows
  std::byte data[128];
  alignas(line) std::atomic<std::uint64_t> reply_exchange;  // number of the exchange
  std::uint64_t reply;  // offset of the data of gets; 0: sent as an MPI message
};
static_assert(offsetof(Mailbox, data) == line && sizeof(Mailbox) == 4 * line);

std::size_t in_lines(std::size_t bytes) {
  return (bytes + line - 1) / line * line;
}

// A quarter of the free space where Linux keeps shared memory, for all arenas of all processes.
std::size_t default_bytes(const Comm& comm) {
  std::size_t bytes = default_arena;
  struct statvfs room = {};
  if (statvfs("/dev/shm", &room) == 0)
    bytes = std::min(bytes, static_cast<std::size_t>(room.f_bavail) * room.f_frsize / 8 /
                                static_cast<std::size_t>(comm.size));
  const auto kib = static_cast<int>(std::max(bytes, min_arena) / 1024);
  return static_cast<std::size_t>(comm.reduce_min(kib)) * 1024;
}

class SharedTransport final : public Transport {
 public:
  SharedTransport(const Comm& comm, WaitPolicy wait_policy, std::size_t bytes)
      : comm_(comm), wait_policy_(wait_policy), packets_(comm, wait_policy), segments_(count(comm.size)) {
    require_shared_memory();
    if (!local_node_layout(comm.handle).on_one_node)
      throw InvalidCase("its processes are on several nodes, which do not share memory");
    arena_bytes_ = in_lines(bytes > 0 ? bytes : default_bytes(comm));
    const std::size_t boxes = 2 * segments_.size() * sizeof(Mailbox);
    const auto all = static_cast<MPI_Aint>(boxes + 2 * arena_bytes_ + line);
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    void* start = nullptr;
    const auto allocate = [&](MPI_Win* window) {
      return MPI_Win_allocate_shared(all, 1, info, comm.handle, &start, window);
    };
    try {
      window_ = make_window(comm.handle, wait_policy, allocate);
    } catch (...) {
      MPI_Info_free(&info);
      throw;
    }
    MPI_Info_free(&info);
    for (int pid = 0; pid < comm.size; ++pid) {
      MPI_Aint size = 0;
      int unit = 0;
      MPI_Win_shared_query(window_, pid, &size, &unit, &start);
      // Pages are aligned alike in all processes.
      segments_[count(pid)] = reinterpret_cast<std::byte*>(in_lines(reinterpret_cast<std::uintptr_t>(start)));
    }
    for (int parity : {0, 1})
      for (int pid = 0; pid < comm.size; ++pid) new (&box(comm.rank, pid, parity)) Mailbox{};
    arenas_ = boxes;
    if (wait_policy.oversubscribed()) bells_.emplace(comm.handle, 2 * comm.size);
    wait_policy.meet(comm.handle);
    begin_superstep();
  }
  ~SharedTransport() override { MPI_Win_free(&window_); }

  const char* name() const override { return "shared"; }

  bool appends(std::size_t bytes) const override {
    return bytes <= arena_bytes_ &&
           in_lines(bytes + sizeof(PutRecord) + sizeof(Chunk)) <= arena_end_ - arena_at_;
  }

  void grow(int pid, Kind kind, Stream& stream, std::size_t bytes) override {
    Mailbox& mailbox = box(comm_.rank, pid, parity());
    if (stream.is_in_heap) return stream.grow_heap(bytes);
    if (kind == puts && !stream.begin && bytes <= sizeof mailbox.data) {
      stream.begin = stream.at = mailbox.data;
      stream.end = stream.begin + sizeof mailbox.data;
      return;
    }
    close(stream, mailbox);
    const std::size_t before = stream.begin ? static_cast<std::size_t>(stream.end - stream.begin) : 0;
    const std::size_t chunk_bytes = std::clamp(2 * before, smallest_chunk, largest_chunk);
    std::uint64_t offset = allocate(sizeof(Chunk) + std::max(bytes, chunk_bytes));
    std::size_t size = std::max(bytes, chunk_bytes);
    if (offset == 0) offset = allocate(sizeof(Chunk) + (size = bytes));
    if (offset == 0) return stream.grow_heap(bytes);
    auto* const chunk = new (segments_[count(comm_.rank)] + offset) Chunk{0, 0};
    (stream.chunk ? stream.chunk->next : stream.first) = offset;
    stream.chunk = chunk;
    stream.begin = stream.at = reinterpret_cast<std::byte*>(chunk + 1);
    stream.end = stream.begin + size;
  }

  Disagreement exchange(const Agreement& agreement, std::vector<Outbox>& outboxes,
                        std::span<const int> active, Incoming& incoming) override {
    const int half = parity();
    exchange_ = next();
    for (const int pid : active)
      if (pid != comm_.rank) fill(box(comm_.rank, pid, half), outboxes[count(pid)]);
    for (int step = 1; step < comm_.size; ++step) publish((comm_.rank + step) % comm_.size, half, agreement);
    sizes_.clear();
    sizes_.reserve(active.size());
    for (const int pid : active)
      if (pid != comm_.rank && outboxes[count(pid)].uses_heap()) send_remainder(outboxes[count(pid)], pid);
    for (int pid = 0; pid < comm_.size; ++pid) {
      if (pid == comm_.rank) {
        incoming.add_from_self(pid, outboxes[count(pid)]);
        continue;
      }
      const Mailbox& mailbox = box(pid, comm_.rank, half);
      wait(mailbox.exchange, pid, 0);
      if (!(mailbox.agreement == agreement)) return {comm_.rank, pid, agreement, mailbox.agreement};
      collect(mailbox, pid, incoming);
    }
    // All other processes have read the data of the previous exchange.
    for (const int pid : used_[1 - half]) clear(box(comm_.rank, pid, 1 - half));
    used_[1 - half].clear();
    used_[half].assign(active.begin(), active.end());
    return {};
  }

  std::byte* reply_room(int pid, std::size_t bytes) override {
    reply_ = allocate(bytes);
    return reply_ ? segments_[count(comm_.rank)] + reply_ : packets_.reply_room(pid, bytes);
  }
  void send_reply(int pid) override {
    Mailbox& mailbox = box(comm_.rank, pid, current());
    mailbox.reply = reply_;
    if (reply_ == 0) packets_.send_reply(pid);
    mailbox.reply_exchange.store(exchange_, std::memory_order_release);
    ring(pid, 1);
  }
  void expect_reply(int pid, std::size_t bytes) override {
    if (expected_.empty()) expected_.resize(segments_.size());
    expected_[count(pid)] = bytes;
  }
  const std::byte* reply(int pid) override {
    const Mailbox& mailbox = box(pid, comm_.rank, current());
    wait(mailbox.reply_exchange, pid, 1);
    if (mailbox.reply > 0) return segments_[count(pid)] + mailbox.reply;
    packets_.expect_reply(pid, expected_[count(pid)]);
    return packets_.reply(pid);
  }

  void finish() override {
    if (!sizes_.empty()) {
      wait_policy_.finish_all(static_cast<int>(size_requests_.size()), size_requests_.data());
      size_requests_.clear();
    }
    packets_.wait_sent();
    begin_superstep();
  }

 private:
  struct Sizes {
    std::uint64_t bytes[kinds];
  };

  static std::size_t count(int number) { return static_cast<std::size_t>(number); }
  std::uint64_t next() const { return exchange_ + 1; }
  // The half that this superstep writes, and the half of the last exchange.
  int parity() const { return static_cast<int>(next() & 1); }
  int current() const { return static_cast<int>(exchange_ & 1); }
  Mailbox& box(int from, int to, int half) const {
    return reinterpret_cast<Mailbox*>(segments_[count(from)])[count(to) + count(half) * segments_.size()];
  }

  void begin_superstep() {
    arena_at_ = arenas_ + count(parity()) * arena_bytes_;
    arena_end_ = arena_at_ + arena_bytes_;
  }
  // Allocates memory in the segment and returns its offset; 0 if there is not enough.
  std::uint64_t allocate(std::size_t bytes) {
    const std::size_t size = in_lines(bytes);
    if (bytes > arena_bytes_ || size > arena_end_ - arena_at_) return 0;
    arena_at_ += size;
    return arena_at_ - size;
  }

  // Stores how much of the current chunk is used.
  static void close(const Stream& stream, Mailbox& mailbox) {
    if (!stream.begin) return;
    const auto used = static_cast<std::size_t>(stream.at - stream.begin);
    if (stream.chunk)
      stream.chunk->used = used;
    else
      mailbox.inline_put_bytes = static_cast<std::uint32_t>(used);
  }
  static void fill(Mailbox& mailbox, const Outbox& outbox) {
    for (int kind = 0; kind < kinds; ++kind) {
      const Stream& stream = outbox.streams[kind];
      if (!stream.is_in_heap) close(stream, mailbox);
      mailbox.first[kind] = stream.first;
    }
    mailbox.separate_puts = outbox.separate_puts > 0;
    mailbox.has_more = outbox.uses_heap();
  }
  static void clear(Mailbox& mailbox) {
    for (std::uint64_t& first : mailbox.first) first = 0;
    mailbox.inline_put_bytes = 0;
    mailbox.separate_puts = mailbox.has_more = 0;
  }

  void publish(int pid, int half, const Agreement& agreement) {
    Mailbox& mailbox = box(comm_.rank, pid, half);
    mailbox.agreement = agreement;
    mailbox.exchange.store(exchange_, std::memory_order_release);
    ring(pid, 0);
  }
  // Where processes outnumber cores, waiting processes sleep.
  void ring(int pid, int index) {
    if (bells_) bells_->set(bells_->of(comm_.rank, 2 * pid + index), static_cast<std::uint32_t>(exchange_));
  }
  void wait(const std::atomic<std::uint64_t>& number, int pid, int index) {
    if (bells_) {
      bells_->wait_until_at_least(bells_->of(pid, 2 * comm_.rank + index),
                                  static_cast<std::uint32_t>(exchange_));
      return;
    }
    wait_policy_.until([&] { return number.load(std::memory_order_acquire) == exchange_; },
                       [this] {
                         int has_message = 0;
                         MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_.handle, &has_message,
                                    MPI_STATUS_IGNORE);
                       });
  }

  void collect(const Mailbox& mailbox, int pid, Incoming& incoming) {
    const bool has_data = mailbox.inline_put_bytes > 0 || mailbox.first[puts] > 0 ||
                          mailbox.first[requests] > 0 || mailbox.first[messages] > 0 || mailbox.has_more;
    if (!has_data) return;
    ++incoming.packets;
    incoming.add(puts, pid, mailbox.data, mailbox.inline_put_bytes);
    for (const Kind kind : {puts, requests, messages})
      for (std::uint64_t offset = mailbox.first[kind]; offset > 0;) {
        const std::byte* const at = segments_[count(pid)] + offset;
        const auto chunk = read<Chunk>(at);
        incoming.add(kind, pid, at + sizeof chunk, chunk.used);
        offset = chunk.next;
      }
    if (mailbox.separate_puts) incoming.separate.push_back(pid);
    if (mailbox.has_more) receive_remainder(pid, incoming);
  }

  void send_remainder(const Outbox& outbox, int pid) {
    Sizes& sizes = sizes_.emplace_back();
    for (int kind = 0; kind < kinds; ++kind) sizes.bytes[kind] = outbox.streams[kind].heap_bytes();
    MPI_Isend(&sizes, sizeof sizes, MPI_BYTE, pid, tags::sizes, comm_.handle, &size_requests_.emplace_back());
    packets_.send(outbox, pid);
  }
  void receive_remainder(int pid, Incoming& incoming) {
    Sizes sizes;
    MPI_Request request;
    MPI_Irecv(&sizes, sizeof sizes, MPI_BYTE, pid, tags::sizes, comm_.handle, &request);
    wait_policy_.finish(request);
    packets_.receive(pid, sizes.bytes[puts] + sizes.bytes[requests] + sizes.bytes[messages]);
    packets_.wait_received();
    incoming.add(pid, packets_.data(pid), sizes.bytes);
  }

  const Comm& comm_;
  WaitPolicy wait_policy_;
  Packets packets_;
  std::vector<std::byte*> segments_;
  std::optional<SharedFlags> bells_;  // for the exchange and the reply of each pair
  MPI_Win window_ = MPI_WIN_NULL;
  std::size_t arenas_ = 0, arena_bytes_ = 0;
  std::uint64_t arena_at_ = 0, arena_end_ = 0;
  std::uint64_t exchange_ = 0;  // number of the last exchange
  std::vector<int> used_[2];    // senders whose mailboxes are not empty
  std::vector<Sizes> sizes_;
  std::vector<MPI_Request> size_requests_;
  std::uint64_t reply_ = 0;
  std::vector<std::size_t> expected_;
};

}  // namespace

std::unique_ptr<Transport> shared_transport(const Comm& comm, WaitPolicy wait_policy, std::size_t bytes) {
  return std::make_unique<SharedTransport>(comm, wait_policy, bytes);
}

}  // namespace hockney::bsp::inline v1
