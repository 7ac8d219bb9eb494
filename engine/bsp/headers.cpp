// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "bsp/headers.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstring>

#include "bsp/tags.hpp"

namespace hockney::bsp::inline v1 {

void describe(const Outbox& outbox, int source, int dest, PairHeader& header) {
  for (int kind = 0; kind < kinds; ++kind) header.bytes[kind] = outbox.streams[kind].heap_bytes();
  header.source = source;
  header.dest = dest;
  header.separate_puts = outbox.separate_puts;
  if (header.complete()) pack(outbox, header.data);
}

void pack(const Outbox& outbox, std::byte* into) {
  for (const Kind kind : {messages, requests, puts}) {
    const Stream& stream = outbox.streams[kind];
    const std::size_t bytes = stream.heap_bytes();
    if (bytes > 0) std::memcpy(into, stream.begin, bytes);
    into += bytes;
  }
}

namespace {

class AlltoallHeaders final : public HeaderExchange {
 public:
  AlltoallHeaders(const Comm& comm, WaitPolicy wait_policy)
      : comm_(comm),
        wait_policy_(wait_policy),
        out_(static_cast<std::size_t>(comm.size)),
        in_(static_cast<std::size_t>(comm.size)) {}

  const char* name() const override { return "alltoall"; }

  std::span<const PairHeader* const> run(const Agreement& agreement, std::span<const int> active,
                                         const std::vector<Outbox>& outboxes,
                                         Disagreement& disagreement) override {
    for (PairHeader& each : out_) each.agreement = agreement;
    for (const int pid : active)
      if (pid != comm_.rank)
        describe(outboxes[static_cast<std::size_t>(pid)], comm_.rank, pid,
                 out_[static_cast<std::size_t>(pid)]);
    constexpr int bytes = sizeof(PairHeader);
    if (wait_policy_.oversubscribed()) {
      MPI_Request request;
      MPI_Ialltoall(out_.data(), bytes, MPI_BYTE, in_.data(), bytes, MPI_BYTE, comm_.handle, &request);
      wait_policy_.finish(request);
    } else {
      MPI_Alltoall(out_.data(), bytes, MPI_BYTE, in_.data(), bytes, MPI_BYTE, comm_.handle);
    }
    arrived_headers_.clear();
    for (int pid = 0; pid < comm_.size; ++pid) {
      const PairHeader& header = in_[static_cast<std::size_t>(pid)];
      if (!(header.agreement == agreement)) disagreement = {comm_.rank, pid, agreement, header.agreement};
      if (pid != comm_.rank && header.total() > 0) arrived_headers_.push_back(&header);
    }
    for (const int pid : active) out_[static_cast<std::size_t>(pid)].empty();
    return arrived_headers_;
  }

 private:
  const Comm& comm_;
  WaitPolicy wait_policy_;
  std::vector<PairHeader> out_, in_;
  std::vector<const PairHeader*> arrived_headers_;
};

// Starts each message of a step; most messages consist of one part.
struct StepHeader {
  Agreement agreement;
  std::uint64_t headers;
};
constexpr std::size_t first_part = 4096;

class LogHeaders final : public HeaderExchange {
 public:
  LogHeaders(const Comm& comm, WaitPolicy wait_policy) : comm_(comm), wait_policy_(wait_policy) {
    out_.resize(first_part);
    in_.resize(first_part);
  }

  const char* name() const override { return "log"; }

  std::span<const PairHeader* const> run(const Agreement& agreement, std::span<const int> active,
                                         const std::vector<Outbox>& outboxes,
                                         Disagreement& disagreement) override {
    forwarded_.clear();
    for (const int pid : active)
      if (pid != comm_.rank)
        describe(outboxes[static_cast<std::size_t>(pid)], comm_.rank, pid, forwarded_.emplace_back());
    for (int bit = 1; bit < comm_.size; bit <<= 1) step(bit, agreement, disagreement);
    sorted_.assign(static_cast<std::size_t>(forwarded_.size()), nullptr);
    for (std::size_t k = 0; k < forwarded_.size(); ++k) sorted_[k] = &forwarded_[k];
    std::sort(sorted_.begin(), sorted_.end(),
              [](const PairHeader* a, const PairHeader* b) { return a->source < b->source; });
    return sorted_;
  }

 private:
  void step(int bit, const Agreement& agreement, Disagreement& disagreement) {
    const int upper = (comm_.rank + bit) % comm_.size, lower = (comm_.rank - bit + comm_.size) % comm_.size;
    const auto is_forwarded = [this, bit](const PairHeader& header) {
      return ((header.dest - comm_.rank + comm_.size) % comm_.size & bit) != 0;
    };
    const auto stays = std::partition(forwarded_.begin(), forwarded_.end(),
                                      [&](const PairHeader& header) { return !is_forwarded(header); });
    const auto count = static_cast<std::size_t>(forwarded_.end() - stays);
    const std::size_t bytes = sizeof(StepHeader) + count * sizeof(PairHeader);
    if (out_.size() < bytes) out_.resize(bytes);
    const StepHeader header{agreement, count};
    std::memcpy(out_.data(), &header, sizeof header);
    if (count > 0) std::memcpy(out_.data() + sizeof header, &*stays, count * sizeof(PairHeader));
    forwarded_.erase(stays, forwarded_.end());

    MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    const std::size_t first_bytes = std::min(bytes, first_part);
    MPI_Irecv(in_.data(), static_cast<int>(first_part), MPI_BYTE, lower, tags::headers, comm_.handle,
              &requests[0]);
    MPI_Isend(out_.data(), static_cast<int>(first_bytes), MPI_BYTE, upper, tags::headers, comm_.handle,
              &requests[1]);
    if (first_bytes < bytes)
      MPI_Isend(out_.data() + first_bytes, static_cast<int>(bytes - first_bytes), MPI_BYTE, upper,
                tags::additional_headers, comm_.handle, &requests[2]);
    wait_policy_.finish(requests[0]);
    const auto step_header = read<StepHeader>(in_.data());
    if (!(step_header.agreement == agreement))
      disagreement = {comm_.rank, lower, agreement, step_header.agreement};
    const std::size_t all = sizeof(StepHeader) + step_header.headers * sizeof(PairHeader);
    if (all > first_part) {
      if (in_.size() < all) in_.resize(all);
      MPI_Irecv(in_.data() + first_part, static_cast<int>(all - first_part), MPI_BYTE, lower,
                tags::additional_headers, comm_.handle, &requests[0]);
    }
    const std::size_t kept_count = forwarded_.size();
    wait_policy_.finish_all(3, requests);
    forwarded_.resize(kept_count + step_header.headers);
    if (step_header.headers > 0)
      std::memcpy(&forwarded_[kept_count], in_.data() + sizeof header,
                  step_header.headers * sizeof(PairHeader));
  }

  const Comm& comm_;
  WaitPolicy wait_policy_;
  std::vector<PairHeader> forwarded_;
  std::vector<const PairHeader*> sorted_;
  std::vector<std::byte> out_, in_;
};

}  // namespace

std::unique_ptr<HeaderExchange> alltoall_headers(const Comm& comm, WaitPolicy wait_policy) {
  return std::make_unique<AlltoallHeaders>(comm, wait_policy);
}

std::unique_ptr<HeaderExchange> log_headers(const Comm& comm, WaitPolicy wait_policy) {
  return std::make_unique<LogHeaders>(comm, wait_policy);
}

}  // namespace hockney::bsp::inline v1
