// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <climits>
#include <cstring>

#include "kernels/sort_base.hpp"
#include "kernels/splitters.hpp"

namespace hockney::kernels {
namespace {

// Every rank sorts its keys and sends samples of them to all others. All ranks divide the keys by the same
// splitters, send each other the keys for their parts, and merge what they receive. Each rank also sends how
// many of its keys go to lower ranks: the sum is the number of keys that precede the receiver's part.
template <class T>
class SampleSort final : public SortBase<T> {
  using Base = SortBase<T>;
  using Base::comm_, Base::keys_, Base::ledger_, Base::ranks_, Base::sort_local_keys, Base::sorted_;
  using Run = std::span<const T>;

 public:
  SampleSort(const Place& place, const Values& values)
      : Base(place, values),
        butterfly_(values.word("route") == "butterfly"),
        copy_rate_(simulated_rate(values, "copy_rate")),
        samples_per_rank_(sample_count(place.comm, values)),
        samples_(samples_per_rank_ * ranks_) {
    if (butterfly_ && this->style_ != "bpram")
      throw InvalidCase(
          "route=butterfly is a route of style=bpram; the other styles combine messages themselves");
    if (butterfly_ && !std::has_single_bit(static_cast<unsigned>(comm_.size)))
      throw InvalidCase("a butterfly needs a power of two of ranks, not " + std::to_string(comm_.size));
    if (this->style_ == "mpi" && keys_ > static_cast<std::size_t>(INT_MAX) / 2)
      throw InvalidCase("keys=" + std::to_string(keys_) + " is more than MPI_Alltoallv can count");
  }

 private:
  static std::size_t sample_count(const Comm& comm, const Values& values) {
    const auto requested_samples = static_cast<std::size_t>(values.integer("samples"));
    return requested_samples ? requested_samples : static_cast<std::size_t>(comm.size);
  }

  void register_areas(bsp::Process& bsp) override {
    area_.emplace(bsp, std::span(samples_));
    bsp.tag_size(sizeof(std::uint64_t));
  }

  void run_bsp(bsp::Process& bsp) override {
    const Run local_samples = sorted_samples();
    for (int to = 0; to < comm_.size; ++to)
      this->template put<T>(bsp, to, local_samples, *area_,
                            samples_per_rank_ * static_cast<std::size_t>(comm_.rank));
    this->sync(bsp);
    const std::vector<std::size_t> part_starts = divide();
    const auto rank = static_cast<std::size_t>(comm_.rank);
    ledger_.end_computing();
    for (std::size_t to = 0; to < ranks_; ++to)
      if (to != rank) send(bsp, static_cast<int>(to), part_starts[to], part(part_starts, to));
    this->sync(bsp);
    std::vector<Run> runs{part(part_starts, rank)};
    std::uint64_t before = part_starts[rank];
    const bool in_packets = this->packet_ > 0;
    const std::size_t total = in_packets ? bsp.message_bytes() / sizeof(T) : 0;
    if (received_keys_.size() < total) received_keys_.resize(total);
    T* end = received_keys_.data();
    while (const std::optional<bsp::Message> message = bsp.receive()) {
      const Run keys = message->payload<T>();
      const auto tag = message->tag<std::uint64_t>();
      if (tag > 0) {
        before += tag - 1;
        runs.push_back(in_packets ? Run(end, keys.size()) : keys);
      } else {
        runs.back() = Run(runs.back().data(), runs.back().size() + keys.size());
      }
      if (in_packets) end = std::copy(keys.begin(), keys.end(), end);
    }
    merge(runs, before);
  }
  // Sends in packets. The tag of the first packet is 1 more than the number of keys that precede these, the
  // others' tags are 0. The packets of a process arrive in this order.
  void send(bsp::Process& bsp, int to, std::size_t begin, Run keys) {
    const std::size_t max_elements = std::max<std::size_t>(1, this->template packet<T>(keys.size()));
    std::uint64_t tag = begin + 1;
    std::size_t at = 0;
    do {
      bsp.send(to, tag, keys.subspan(at, std::min(max_elements, keys.size() - at)));
      tag = 0;
      at += max_elements;
    } while (at < keys.size());
  }

  void run_mpi() override {
    const Run local_samples = sorted_samples();
    const auto sample_bytes = static_cast<int>(local_samples.size_bytes());
    ledger_.end_computing();
    MPI_Allgather(local_samples.data(), sample_bytes, MPI_BYTE, samples_.data(), sample_bytes, MPI_BYTE,
                  comm_.handle);
    ledger_.end_superstep(local_samples.size_bytes() * (ranks_ - 1),
                          local_samples.size_bytes() * (ranks_ - 1), 1, 0);

    const std::vector<std::size_t> part_starts = divide();
    // Pairs: number of keys for a rank, and number of keys for lower ranks.
    std::vector<std::uint64_t> outgoing_counts(2 * ranks_);
    std::vector<std::uint64_t> received(2 * ranks_);
    std::vector<int> counts(ranks_), places(ranks_), from_counts(ranks_), from_places(ranks_);
    for (std::size_t to = 0; to < ranks_; ++to) {
      counts[to] = static_cast<int>(part_starts[to + 1] - part_starts[to]);
      places[to] = static_cast<int>(part_starts[to]);
      outgoing_counts[2 * to] = part_starts[to + 1] - part_starts[to];
      outgoing_counts[2 * to + 1] = part_starts[to];
    }
    ledger_.end_computing();
    MPI_Alltoall(outgoing_counts.data(), 2, MPI_UINT64_T, received.data(), 2, MPI_UINT64_T, comm_.handle);
    std::uint64_t before = 0;
    std::size_t total = 0;
    for (std::size_t from = 0; from < ranks_; ++from) {
      from_counts[from] = static_cast<int>(received[2 * from]);
      from_places[from] = static_cast<int>(total);
      total += received[2 * from];
      before += received[2 * from + 1];
    }
    if (received_keys_.size() < total) received_keys_.resize(total);
    const MPI_Datatype type = sizeof(T) == sizeof(double) ? MPI_DOUBLE : MPI_UINT32_T;
    MPI_Alltoallv(sorted_.data(), counts.data(), places.data(), type, received_keys_.data(),
                  from_counts.data(), from_places.data(), type, comm_.handle);
    const auto rank = static_cast<std::size_t>(comm_.rank);
    ledger_.end_superstep((keys_ - part(part_starts, rank).size()) * sizeof(T),
                          (total - part(part_starts, rank).size()) * sizeof(T), 2, 0);
    std::vector<Run> runs;
    for (std::size_t from = 0; from < ranks_; ++from)
      runs.push_back(
          Run(received_keys_).subspan(static_cast<std::size_t>(from_places[from]), received[2 * from]));
    merge(runs, before);
  }

  void run_bpram(bpram::Process& bpram) override {
    const Run local_samples = sorted_samples();
    gather_samples(bpram, local_samples);
    const std::vector<std::size_t> part_starts = divide();
    pieces_.clear();
    arrived_bytes_ = 0;
    if (butterfly_)
      route_by_butterfly(bpram, part_starts);
    else
      route_directly(bpram, part_starts);
    std::vector<Run> runs;
    std::uint64_t before = 0;
    for (const Piece& piece : pieces_) {
      before += piece.header.before;
      runs.emplace_back(reinterpret_cast<const T*>(memory_.data() + piece.offset), piece.header.keys);
    }
    merge(runs, before);
  }

  // Gathers all ranks' samples on every rank, in ceil(log2 p) steps, each of which appends the blocks of the
  // next ranks to those already gathered (Bruck et al. 1997).
  void gather_samples(bpram::Process& bpram, Run local_samples) {
    std::vector<T> rotated(samples_.size());
    std::copy(local_samples.begin(), local_samples.end(), rotated.begin());
    for (std::size_t held = 1; held < ranks_; held *= 2) {
      const std::size_t blocks = std::min(held, ranks_ - held);
      this->template exchange<T>(
          bpram, this->rank_plus(ranks_ - held),
          std::span<const T>(rotated).first(blocks * samples_per_rank_),
          std::span(rotated).subspan(held * samples_per_rank_, blocks * samples_per_rank_));
    }
    for (std::size_t i = 0; i < ranks_; ++i)
      std::copy_n(rotated.begin() + static_cast<std::ptrdiff_t>(i * samples_per_rank_), samples_per_rank_,
                  samples_.begin() + static_cast<std::ptrdiff_t>(
                                         static_cast<std::size_t>(this->rank_plus(i)) * samples_per_rank_));
  }

  // The keys of one rank for another rank. In a block, headers precede all keys.
  struct Header {
    std::uint64_t to;
    std::uint64_t keys;
    std::uint64_t before;  // number of this rank's keys for lower ranks
  };
  struct Piece {
    Header header;
    std::size_t offset;  // in memory_
  };

  // Each rank sends to the next rank, then to the one after it, and so on.
  void route_directly(bpram::Process& bpram, const std::vector<std::size_t>& part_starts) {
    const auto rank = static_cast<std::size_t>(comm_.rank);
    keep_local_piece(rank, part_starts);
    for (std::size_t distance = 1; distance < ranks_; ++distance) {
      const auto to = static_cast<std::size_t>(this->rank_plus(distance));
      block_.clear();
      append(&block_, Header{to, part(part_starts, to).size(), part_starts[to]});
      append_keys(&block_, part(part_starts, to));
      receive_pieces(bpram, static_cast<int>(to), 1, keys_);
    }
  }

  // In step k, ranks whose numbers differ in bit k exchange all keys for each other's half: log2 p steps.
  void route_by_butterfly(bpram::Process& bpram, const std::vector<std::size_t>& part_starts) {
    for (std::size_t to = 0; to < ranks_; ++to) keep_local_piece(to, part_starts);
    for (std::size_t bit = 1; bit < ranks_; bit *= 2) {
      const auto partner = static_cast<std::size_t>(comm_.rank) ^ bit;
      std::vector<Piece> outgoing_pieces;
      const auto leaves = [&](const Piece& piece) { return (piece.header.to & bit) == (partner & bit); };
      std::copy_if(pieces_.begin(), pieces_.end(), std::back_inserter(outgoing_pieces), leaves);
      std::erase_if(pieces_, leaves);
      block_.clear();
      for (const Piece& piece : outgoing_pieces) append(&block_, piece.header);
      for (const Piece& piece : outgoing_pieces)
        append_keys(&block_,
                    Run(reinterpret_cast<const T*>(memory_.data() + piece.offset), piece.header.keys));
      // At most all keys of the ranks that have sent to the partner.
      receive_pieces(bpram, static_cast<int>(partner), outgoing_pieces.size(), keys_ * bit);
    }
  }

  // Receives `count` headers and at most `max_keys` keys in a step that sends block_.
  void receive_pieces(bpram::Process& bpram, int partner, std::size_t count, std::size_t max_keys) {
    const std::size_t begin = arrived_bytes_;
    make_room(count * sizeof(Header) + max_keys * sizeof(T));
    const bpram::Received received =
        this->step(bpram, partner, block_, true, std::span(memory_).subspan(begin));
    std::size_t offset = begin + count * sizeof(Header);
    for (std::size_t i = 0; i < count; ++i) {
      Piece piece{};
      std::memcpy(&piece.header, memory_.data() + begin + i * sizeof(Header), sizeof(Header));
      piece.offset = offset;
      offset += piece.header.keys * sizeof(T);
      pieces_.push_back(piece);
    }
    arrived_bytes_ = begin + (received.bytes + sizeof(Header) - 1) / sizeof(Header) * sizeof(Header);
  }

  // Adds this rank's own keys for a rank as if they had been received.
  void keep_local_piece(std::size_t to, const std::vector<std::size_t>& part_starts) {
    const Run keys = part(part_starts, to);
    make_room(keys.size_bytes() + sizeof(Header));
    if (!keys.empty()) std::memcpy(memory_.data() + arrived_bytes_, keys.data(), keys.size_bytes());
    ledger_.copy(keys.size_bytes(), copy_rate_);
    pieces_.push_back({{to, keys.size(), part_starts[to]}, arrived_bytes_});
    arrived_bytes_ += (keys.size_bytes() + sizeof(Header) - 1) / sizeof(Header) * sizeof(Header);
  }

  void make_room(std::size_t bytes) {
    if (memory_.size() < arrived_bytes_ + bytes) memory_.resize(arrived_bytes_ + bytes);
  }
  static void append(std::vector<std::byte>* to, const Header& header) {
    const auto bytes = std::as_bytes(std::span(&header, 1));
    to->insert(to->end(), bytes.begin(), bytes.end());
  }
  void append_keys(std::vector<std::byte>* to, Run keys) {
    const auto bytes = std::as_bytes(keys);
    ledger_.copy(bytes.size(), copy_rate_);
    to->insert(to->end(), bytes.begin(), bytes.end());
  }

  // Sorts this rank's keys and returns samples of them.
  Run sorted_samples() {
    sort_local_keys();
    local_samples_.clear();
    for (std::size_t i = 0; i < samples_per_rank_; ++i)
      local_samples_.push_back(sorted_[Splitters<T>::position(i, samples_per_rank_, keys_)]);
    return local_samples_;
  }
  // Returns the start of each rank's part in sorted_.
  std::vector<std::size_t> divide() {
    const Splitters<T> splitters(samples_, ranks_, keys_);
    ledger_.compute(sorting_operations(samples_.size()), this->sort_rate_);
    return splitters.part_starts(sorted_, static_cast<std::size_t>(comm_.rank));
  }
  Run part(const std::vector<std::size_t>& part_starts, std::size_t to) const {
    return Run(sorted_).subspan(part_starts[to], part_starts[to + 1] - part_starts[to]);
  }

  void merge(const std::vector<Run>& runs, std::uint64_t before) {
    std::size_t total = 0;
    for (const Run& run : runs) total += run.size();
    if (merged_keys_.size() < total) merged_keys_.resize(total);
    local::merge_runs(runs, std::span(merged_keys_).first(total), scratch_);
    this->count_merged(total * static_cast<std::size_t>(std::bit_width(ranks_ - 1)));
    this->set_result(std::span<const T>(merged_keys_).first(total), before);
  }

  const bool butterfly_;
  const double copy_rate_;
  const std::size_t samples_per_rank_;
  std::vector<T> samples_;
  std::vector<T> local_samples_;
  std::vector<T> received_keys_;
  std::vector<T> merged_keys_;
  std::vector<T> scratch_;
  std::vector<Piece> pieces_;
  std::vector<std::byte> block_;
  std::vector<std::byte> memory_;
  std::size_t arrived_bytes_ = 0;
  std::optional<bsp::Area<T>> area_;
};

constexpr Parameter sample_sort_parameters[] = {
    keys_of("4096", "keys of each rank"),
    key_type_parameter,
    distribution_parameter,
    style_parameter,
    packet_parameter,
    {"route", Kind::choice, "", "direct", 0, 0, "direct|butterfly",
     "with style=bpram: a block from each rank to each other one, or log2 p steps by way of other ranks"},
    {"samples", Kind::integer, "", "0", 0, 1e6, "",
     "samples of each rank's keys; 0: as many as there are ranks"},
    sort_rate_parameter,
    merge_rate_parameter,
    copy_rate_parameter,
    parameters::sync_each};

}  // namespace

extern constinit const WorkloadInfo sample_sort{
    .name = "sample_sort",
    .role = "bsp-kernel",
    .operation = "sample sort",
    .size = "keys",
    .help =
        "sample sort: the ranks divide their sorted keys by samples, send each other what belongs to them, "
        "and merge",
    .time = "one sort, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = sample_sort_parameters,
    .metrics = ledger_metrics,
    .make = make_sort<SampleSort>,
};

}  // namespace hockney::kernels
