// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "base/clock.hpp"
#include "base/invalid_case.hpp"
#include "base/random.hpp"
#include "base/statistics.hpp"
#include "hockney/bsp.hpp"
#include "kernels/random_ring.hpp"
#include "measure/parameters.hpp"
#include "measure/workload.hpp"

namespace hockney::kernels {
namespace {

using Word = std::uint32_t;

// A random full h-relation: every rank sends h words and receives h words, in packets. Packet t of all ranks
// is a permutation: with the ranks in a random order, it is sent a random distance ahead.
class HRelation final : public Workload {
 public:
  HRelation(const Place& place, const Values& values)
      : comm_(place.comm),
        method_(values.word("method")),
        words_(static_cast<std::size_t>(values.integer("packet")) / sizeof(Word)),
        packets_(count(values)),
        outgoing_(packets_ * words_),
        incoming_(outgoing_.size()) {
    choose_partners(static_cast<std::uint64_t>(values.integer("seed")));
    if (method_ == "mpi") requests_.resize(2 * packets_);
  }

  void prepare(int) override {
    if (method_ == "mpi" || bsp_) return;
    bsp_.emplace(comm_.handle);
    area_.emplace(*bsp_, std::span(incoming_));
    bsp_->sync();
  }

  void run() override {
    if (method_ == "put" || method_ == "hpput")
      put(method_ == "hpput");
    else if (method_ == "send")
      send();
    else
      send_immediately();
  }

  void fill(const Payload& payload) override {
    seed_ = payload.seed;
    for (std::size_t t = 0; t < packets_; ++t)
      for (std::size_t i = 0; i < words_; ++i) outgoing_[t * words_ + i] = word(comm_.rank, t, i);
    spoil();
  }

  Check verify(const Payload&) override {
    const Check found = method_ == "send" ? check_sums() : check_places();
    spoil();
    return found;
  }

  bool keeps_payload() const override { return true; }
  std::uint64_t bytes_moved() const override { return outgoing_.size() * sizeof(Word); }

  // The library records times in separate supersteps, since recording also counts, which takes time.
  void report(MetricValues& values) override {
    std::array<std::vector<double>, 3> parts;
    if (bsp_) {
      for (int k = 0; k < recorded; ++k) {
        comm_.barrier();
        bsp_->record(true);
        const double start = now();
        run();
        const double all = now() - start;
        const bsp::Superstep& superstep = bsp_->supersteps().back();
        const double exchange = superstep.sync_s - superstep.read_s;
        parts[0].push_back(superstep.work_s);
        parts[1].push_back(exchange);
        parts[2].push_back(std::max(0.0, all - superstep.work_s - exchange));
      }
      bsp_->record(false);
      spoil();
    }
    constexpr std::array names{"write", "exchange", "read"};
    for (std::size_t i = 0; i < parts.size(); ++i) values.set(names[i], bsp_ ? median(parts[i]) : 0);
  }

 private:
  // Number of supersteps whose parts the library records; on a simulated machine all take the same time.
#ifdef HOCKNEY_SMPI
  static constexpr int recorded = 1;
#else
  static constexpr int recorded = 5;
#endif

  static std::size_t count(const Values& values) {
    const std::int64_t bytes = values.integer("h") * static_cast<std::int64_t>(sizeof(Word));
    const std::int64_t packet = values.integer("packet");
    if (packet % static_cast<std::int64_t>(sizeof(Word)) != 0)
      throw InvalidCase("packet=" + std::to_string(packet) + " is not a multiple of 4, the bytes of a word");
    if (bytes % packet != 0)
      throw InvalidCase("h=" + std::to_string(values.integer("h")) +
                        " words of 4 bytes are not a whole number of packets of " + std::to_string(packet) +
                        " bytes");
    return static_cast<std::size_t>(bytes / packet);
  }

  void choose_partners(std::uint64_t seed) {
    const RandomRing ring(comm_, seed);
    for (std::size_t t = 0; t < packets_; ++t) {
      const auto [to, from] = ring.partners(mix(mix(seed) ^ t));
      to_.push_back(to);
      from_.push_back(from);
    }
  }

  Word word(int rank, std::size_t packet, std::size_t index) const {
    return static_cast<Word>(
        mix(seed_ ^ (static_cast<std::uint64_t>(rank) << 48) ^ (packet * words_ + index)) >> 32);
  }

  std::span<const Word> packet(std::size_t t) const {
    return std::span(outgoing_).subspan(t * words_, words_);
  }

  void put(bool direct) {
    const bsp::Registration area = area_->registration();
    const std::size_t bytes = words_ * sizeof(Word);
    for (std::size_t t = 0; t < packets_; ++t)
      if (direct)
        bsp_->hpput(to_[t], &outgoing_[t * words_], area, t * bytes, bytes);
      else
        bsp_->put(to_[t], &outgoing_[t * words_], area, t * bytes, bytes);
    bsp_->sync();
  }

  // Packets arrive in any order.
  void send() {
    for (std::size_t t = 0; t < packets_; ++t) bsp_->send(to_[t], packet(t));
    bsp_->sync();
    Word* to = incoming_.data();
    while (const std::optional<bsp::Message> message = bsp_->receive()) {
      if (to + words_ > incoming_.data() + incoming_.size()) break;
      std::memcpy(to, message->payload_bytes().data(), words_ * sizeof(Word));
      to += words_;
    }
  }

  void send_immediately() {
    constexpr int tag = 1;
    const auto count = static_cast<int>(words_);
    for (std::size_t t = 0; t < packets_; ++t)
      MPI_Irecv(&incoming_[t * words_], count, MPI_UINT32_T, from_[t], tag, comm_.handle, &requests_[t]);
    for (std::size_t t = 0; t < packets_; ++t)
      MPI_Isend(&outgoing_[t * words_], count, MPI_UINT32_T, to_[t], tag, comm_.handle,
                &requests_[packets_ + t]);
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    MPI_Barrier(comm_.handle);
  }

  void spoil() { std::fill(incoming_.begin(), incoming_.end(), Word{0}); }

  Check check_places() const {
    Check result;
    result.bytes = incoming_.size() * sizeof(Word);
    for (std::size_t t = 0; t < packets_; ++t)
      for (std::size_t i = 0; i < words_; ++i) {
        if (incoming_[t * words_ + i] == word(from_[t], t, i)) continue;
        ++result.errors;
        if (result.first.empty()) result.first = "packet " + std::to_string(t) + " differs";
        break;
      }
    return result;
  }
  // Compares the sum and the sum of squares of all words.
  Check check_sums() const {
    std::array<std::uint64_t, 4> sums{};
    for (std::size_t t = 0; t < packets_; ++t)
      for (std::size_t i = 0; i < words_; ++i) {
        const std::uint64_t expected = word(from_[t], t, i);
        const std::uint64_t found = incoming_[t * words_ + i];
        sums[0] += expected;
        sums[1] += expected * expected;
        sums[2] += found;
        sums[3] += found * found;
      }
    Check result;
    result.bytes = incoming_.size() * sizeof(Word);
    if (sums[0] == sums[2] && sums[1] == sums[3]) return result;
    result.errors = 1;
    result.first = "the words of all messages do not add up";
    return result;
  }

  const Comm& comm_;
  const std::string method_;
  const std::size_t words_;
  const std::size_t packets_;
  std::vector<int> to_;    // of each packet
  std::vector<int> from_;  // of each packet
  std::vector<Word> outgoing_;
  std::vector<Word> incoming_;
  std::vector<MPI_Request> requests_;
  std::uint64_t seed_ = 0;
  std::optional<bsp::Process> bsp_;
  std::optional<bsp::Area<Word>> area_;
};

constexpr Parameter h_relation_parameters[] = {
    {"h", Kind::integer, "", "1024", 1, 1e9, "",
     "words of 4 bytes that each rank sends to others, and receives"},
    {"packet", Kind::integer, "B", "4", 4, 1e9, "",
     "bytes of each packet, a multiple of 4 that divides all words", "4"},
    {"method", Kind::choice, "", "put", 0, 0, "put|hpput|send|mpi",
     "put: bsp_put; hpput: bsp_hpput; send: bsp_send, and the receivers read their queues; mpi: each packet "
     "at once, by MPI_Isend and MPI_Irecv, then a barrier"},
    {"seed", Kind::integer, "", "1", 0, 1e15, "", "seed of the random destinations"},
    parameters::sync_each};

constexpr Metric h_relation_metrics[] = {
    {.name = "write",
     .unit = "s",
     .over_ranks = OverRanks::mean,
     .help = "of a superstep: calls of puts or sends; 0 with method=mpi"},
    {.name = "exchange",
     .unit = "s",
     .over_ranks = OverRanks::mean,
     .help = "of a superstep: synchronisation and messages; 0 with method=mpi"},
    {.name = "read",
     .unit = "s",
     .over_ranks = OverRanks::mean,
     .help = "of a superstep: moving what has arrived to where the program wants it; 0 with method=mpi"},
};

}  // namespace

extern constinit const WorkloadInfo h_relation{
    .name = "h_relation",
    .role = "bsp",
    .operation = "h-relation",
    .size = "h",
    .help = "random full h-relation on BSPlib, in a single superstep",
    .time = "one superstep, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = h_relation_parameters,
    .metrics = h_relation_metrics,
    .make = make<HRelation>,
};

}  // namespace hockney::kernels
