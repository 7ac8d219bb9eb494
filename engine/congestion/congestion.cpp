// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "comm/global_clock.hpp"
#include "congestion/roles.hpp"
#include "measure/parameters.hpp"
#include "measure/workload.hpp"

namespace hockney::patterns {
extern const WorkloadInfo allreduce, alltoall, round_robin;
}
namespace hockney::messages {
extern const WorkloadInfo halo, many_to_one, one_to_many, pairs_stream;
}

namespace hockney::congestion {
namespace {

using Words = std::map<std::string, std::string>;

struct Victim {
  const char* name;
  const WorkloadInfo& info;
  Words words;  // other values than the workload's defaults
};

const Victim victims[] = {
    {"ring", patterns::round_robin, {{"exchange", "sendrecv"}}},
    {"allreduce", patterns::allreduce, {}},
    {"halo", messages::halo, {{"dimensions", "2"}}},
};

struct Congestor {
  const char* name;
  const WorkloadInfo& info;
  Words words;
  // Messages of all ranks in one run, for this number of ranks and window.
  double (*messages)(double ranks, double window);
};

const Congestor congestors[] = {
    {"incast", messages::many_to_one, {}, [](double ranks, double window) { return (ranks - 1) * window; }},
    {"broadcast",
     messages::one_to_many,
     {},
     [](double ranks, double window) { return (ranks - 1) * window; }},
    {"alltoall", patterns::alltoall, {}, [](double ranks, double) { return ranks * (ranks - 1); }},
    {"pairs",
     messages::pairs_stream,
     {{"direction", "both"}},
     [](double ranks, double window) { return 2 * std::floor(ranks / 2) * window; }},
};

// The entry of this name; null for "none".
template <class Entry, std::size_t count>
const Entry* entry_named(const Entry (&entries)[count], const std::string& name) {
  const auto at = std::find_if(std::begin(entries), std::end(entries),
                               [&name](const Entry& entry) { return name == entry.name; });
  return at == std::end(entries) ? nullptr : at;
}

// A workload's default values, with these words instead where it has such a parameter.
Values values_of(const WorkloadInfo& info, const Words& words) {
  Words all;
  for (const Parameter& parameter : info.parameters) {
    const auto at = words.find(parameter.name);
    all[parameter.name] = at == words.end() ? parameter.standard : at->second;
  }
  return Values(std::move(all));
}

Words with(Words words, const std::string& name, std::string value) {
  words[name] = std::move(value);
  return words;
}

Allocation allocation_named(const std::string& name) {
  return name == "random"    ? Allocation::random
         : name == "blocked" ? Allocation::blocked
                             : Allocation::interleaved;
}

// Some of the ranks, the victims, repeat an operation, while the others, the congestors, load the network. A
// series begins when the congestors have completed `full_load_rounds` rounds, and they continue until the
// victims have completed it. Congestors cannot stop independently, since others would wait for their
// messages; in each round, the first congestor broadcasts whether another one follows.
class Congestion final : public Workload {
 public:
  Congestion(const Place& place, const Values& values)
      : comm_(place.comm),
        congestor_(entry_named(congestors, values.word("congestor"))),
        load_bytes_(static_cast<double>(values.integer("load_bytes"))),
        load_window_(static_cast<double>(values.integer("load_window"))) {
    const Roles roles(nodes_of_ranks(comm_), static_cast<double>(values.integer("victims")) / 100,
                      allocation_named(values.word("allocation")), static_cast<std::uint64_t>(place.launch));
    victim_count_ = static_cast<int>(roles.victims().size());
    congestor_count_ = static_cast<int>(roles.congestors().size());
    first_victim_ = roles.victims().front();
    first_congestor_ = roles.congestors().front();
    const auto position_in = [this](const std::vector<int>& ranks) {
      return static_cast<int>(std::find(ranks.begin(), ranks.end(), comm_.rank) - ranks.begin());
    };
    const int position = position_in(roles.victims());
    is_victim_ = position < victim_count_;
    MPI_Comm handle;
    MPI_Comm_split(comm_.handle, is_victim_, is_victim_ ? position : position_in(roles.congestors()),
                   &handle);
    group_ = Comm::owner(handle);
    announcements_ = Comm::duplicate(group_.handle);
    group_place_ = std::make_unique<Place>(Place{group_, place.arena, place.launch, place.files});
    if (is_victim_) {
      const Victim& victim = *entry_named(victims, values.word("victim"));
      operation_ = victim.info.make(
          *group_place_, values_of(victim.info, with(victim.words, "bytes", values.word("bytes"))));
    } else if (congestor_) {
      const Words words = with(with(congestor_->words, "bytes", values.word("load_bytes")), "window",
                               values.word("load_window"));
      operation_ = congestor_->info.make(*group_place_, values_of(congestor_->info, words));
    }
    // Rank 0 reports the bytes, whatever its role.
    double bytes = is_victim_ ? static_cast<double>(operation_->bytes_moved()) : 0;
    bytes = comm_.reduce_max(bytes);
    bytes_moved_ = static_cast<std::uint64_t>(bytes);
  }

  void prepare(int count) override {
    if (is_victim_) operation_->prepare(count);
  }

  // A congestor communicates during a series in start_series(); its other runs are single rounds.
  void run() override {
    if (is_victim_)
      operation_->run();
    else if (operation_ && !in_series_)
      run_load();
  }

  void start_series() override {
    in_series_ = true;
    if (!is_victim_) {
      operation_ ? load_until_stopped() : wait_until_stopped();
      return;
    }
    if (congestor_ && group_.root())
      MPI_Recv(nullptr, 0, MPI_BYTE, first_congestor_, loaded_tag, comm_.handle, MPI_STATUS_IGNORE);
    group_.barrier();
    if (GlobalClock::is_global()) wait_until(common_start());
  }

  void end_series() override {
    in_series_ = false;
    if (!is_victim_) return;
    group_.barrier();
    if (group_.root()) MPI_Send(nullptr, 0, MPI_BYTE, first_congestor_, stop_tag, comm_.handle);
  }

  bool is_timed() const override { return is_victim_; }

  void fill(const Payload& payload) override {
    if (operation_) operation_->fill(payload);
  }
  Check verify(const Payload& payload) override { return operation_ ? operation_->verify(payload) : Check{}; }
  // The buffers of both roles are hot.
  bool keeps_payload() const override { return true; }
  std::uint64_t bytes_moved() const override { return bytes_moved_; }

  void report(MetricValues& values) override {
    const double bytes =
        congestor_ ? load_bytes_ * congestor_->messages(static_cast<double>(congestor_count_), load_window_)
                   : 0;
    values.set("load", load_s_ > 0 ? bytes * static_cast<double>(rounds_) / load_s_ : 0);
    values.set("victim_ranks", victim_count_);
  }

 private:
  static constexpr int loaded_tag = 1;
  static constexpr int stop_tag = 2;
  static constexpr long full_load_rounds = 2;

  static constexpr double start_factor = 4;  // relative to the time that an announcement took

  // A moment at which all victims can start. The first victim, which waits for the load, would otherwise be
  // late, and without noise a skew on a ring never decays.
  double common_start() const {
    double announced = now();
    group_.broadcast(announced);
    const double longest_s = group_.reduce_max(now() - announced);
    double start = now() + start_factor * longest_s;
    group_.broadcast(start);
    return start;
  }

  void run_load() {
    operation_->prepare(1);
    operation_->run();
  }

  // Without messages, which would disturb the victims.
  void wait_until_stopped() {
    if (group_.root())
      MPI_Recv(nullptr, 0, MPI_BYTE, first_victim_, stop_tag, comm_.handle, MPI_STATUS_IGNORE);
    else
      group_.await_broadcast();
    bool is_stopped = true;
    group_.broadcast(is_stopped);
  }

  void load_until_stopped() {
    const double start_s = now();
    MPI_Request stop = MPI_REQUEST_NULL;
    if (group_.root()) MPI_Irecv(nullptr, 0, MPI_BYTE, first_victim_, stop_tag, comm_.handle, &stop);
    for (long round = 1, another = 1; another; ++round) {
      if (group_.root()) {
        int is_stopped = 0;
        MPI_Test(&stop, &is_stopped, MPI_STATUS_IGNORE);
        another = !is_stopped;
      }
      MPI_Request announcement;
      MPI_Ibcast(&another, 1, MPI_LONG, 0, announcements_.handle, &announcement);
      run_load();
      MPI_Wait(&announcement, MPI_STATUS_IGNORE);
      ++rounds_;
      if (group_.root() && round == full_load_rounds)
        MPI_Send(nullptr, 0, MPI_BYTE, first_victim_, loaded_tag, comm_.handle);
    }
    if (group_.root()) load_s_ += now() - start_s;
  }

  const Comm& comm_;
  const Congestor* const congestor_;  // null in the quiet state
  const double load_bytes_;
  const double load_window_;
  int victim_count_ = 0;
  int congestor_count_ = 0;
  // Ranks of comm_ that are rank 0 of their group.
  int first_victim_ = 0;
  int first_congestor_ = 0;
  bool is_victim_ = false;
  Comm group_;          // the ranks of this rank's role
  Comm announcements_;  // a duplicate
  std::unique_ptr<Place> group_place_;
  std::unique_ptr<Workload> operation_;  // null on a congestor in the quiet state
  std::uint64_t bytes_moved_ = 0;
  bool in_series_ = false;
  long rounds_ = 0;
  double load_s_ = 0;  // on the first congestor only
};

constexpr Parameter congestion_parameters[] = {
    {"victim", Kind::choice, "", "allreduce", 0, 0, "ring|allreduce|halo",
     "operation of the victims. ring: MPI_Sendrecv with both neighbors on a ring; allreduce; halo: with the "
     "four "
     "neighbors on a periodic grid"},
    {"bytes", Kind::integer, "B", "8", 0, parameters::largest_bytes, "",
     "bytes of a victim's message or vector, a multiple of 8", parameters::element_bytes},
    {"congestor", Kind::choice, "", "none", 0, 0, "none|incast|broadcast|alltoall|pairs",
     "load from the other ranks. none: they wait; incast: all send to one; broadcast: one sends to all; "
     "alltoall: MPI_Alltoall; pairs: in both directions between pairs"},
    {"load_bytes", Kind::integer, "B", "65536", 0, parameters::largest_bytes, "",
     "bytes in each message of the congestors"},
    {"load_window", Kind::integer, "", "4", 1, 4096, "",
     "messages of a congestor in flight at once to another; not for alltoall"},
    {"victims", Kind::integer, "%", "20", 1, 99, "",
     "share of victims among the nodes, or among the ranks on fewer than four nodes; at least two"},
    {"allocation", Kind::choice, "", "random", 0, 0, "random|blocked|interleaved",
     "which nodes are victims. random: others in each launch; blocked: the first; interleaved: evenly "
     "spread"},
};

constexpr Metric congestion_metrics[] = {
    {.name = "load",
     .unit = "B/s",
     .over_ranks = OverRanks::max,
     .help = "of all congestors in the last visit"},
    {.name = "victim_ranks", .unit = "", .over_ranks = OverRanks::max, .help = "number of victims"},
};

}  // namespace

extern constinit const WorkloadInfo congestion{
    .name = "congestion",
    .role = "congestion",
    .operation = "congestion",
    .size = "bytes",
    .help = "an operation of some ranks, the victims, while the other ranks load the network",
    .time = "one operation, the maximum over the victims",
    .min_ranks = 4,
    .timing = Timing::longest,
    .shows_distribution = true,
    .parameters = congestion_parameters,
    .metrics = congestion_metrics,
    .make = make<Congestion>,
};

}  // namespace hockney::congestion
