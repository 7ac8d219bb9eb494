// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/interleaved.hpp"
#include "measure/pair_base.hpp"
#include "measure/parameters.hpp"
#include "nonblocking/flow.hpp"

namespace hockney::nonblocking {
namespace {

// The polling method of Lawry, Wilson, Maccabe and Brightwell, "COMB: A Portable Benchmark Suite for
// Assessing MPI Overlap" (2002). Rank 0 performs a fixed amount of computation and polls for messages after
// every interval of it; each received message is answered at once, so that `window` messages remain in flight
// in each direction. Rank 1 only answers. Definitions:
//    availability = time(work without messaging) / time(work plus MPI calls while messaging)
//    bandwidth    = bytes received / the latter
// The work without messaging is measured just before each repetition (see Interleaved). When the work is
// done, rank 1 is stopped; messages then in flight are completed outside the timed region, and compared.
class Availability final : public PairBase {
 public:
  Availability(const Place& place, const Values& values)
      : PairBase(place, values, static_cast<std::size_t>(values.integer("window"))),
        flow_(static_cast<std::size_t>(values.integer("window")), block_, partner_, comm_.handle),
        work_(values.real("interval") * static_cast<double>(values.integer("polls") + 1),
              values.integer("polls")) {}
  ~Availability() override { close(); }
  Availability(const Availability&) = delete;
  Availability& operator=(const Availability&) = delete;

  void prepare(int count) override {
    close();
    work_.recheck();
    if (first()) work_.run_alone(count);
    flow_.post(outgoing_.next(), incoming_.next());
  }

  void run() override {
    const double start_s = now();
    flow_.send_all();
    if (!first()) {
      flow_.answer_until(stop_tag);
      return;
    }
    double time = now();
    phase_times_.posting_s += time - start_s;
    time = work_.run(time, phase_times_, [this] { flow_.poll(); });
    messages_ += flow_.messages();
    MPI_Send(nullptr, 0, MPI_BYTE, partner_, stop_tag, comm_.handle);
    phase_times_.waiting_s += now() - time;
  }

  void fill(const Payload& payload) override {
    close();
    payload_ = payload;
    PairBase::fill(payload);
  }
  Check verify(const Payload& payload) override {
    close();
    return PairBase::verify(payload);
  }
  // Checks of the last repetition of a chunk.
  std::vector<Check> take_checks() override {
    if (!flow_.open()) return {};
    return {verify(payload_)};
  }
  bool keeps_payload() const override { return false; }
  bool prepared_each_time() const override { return true; }
  std::optional<double> computing_s() const override { return 2 * work_.preset_s(); }
  std::uint64_t bytes_moved() const override { return 0; }  // included in the metrics

  void sample(MetricValues& values) override {
    const double total_s = phase_times_.total_s();
    const auto messages = static_cast<double>(messages_);
    values.set("messages", messages);
    values.set("bandwidth", total_s > 0 ? messages * static_cast<double>(block_.bytes) / total_s : 0);
    work_.sample(values, phase_times_, 1);
    phase_times_ = {};
    messages_ = 0;
  }
  void report(MetricValues& values) override { work_.report(values); }

 private:
  static constexpr int stop_tag = 3;

  void close() {
    if (flow_.open()) flow_.close();
  }

  Flow flow_;
  Interleaved work_;
  Payload payload_;
  PhaseTimes phase_times_;  // since the last sample
  std::uint64_t messages_ = 0;
};

constexpr Parameter availability_parameters[] = {
    parameters::bytes("bytes in each message"),
    parameters::window,
    {"interval", Kind::real, "s", "1e-05", 1e-9, 10, "", "work between two polls"},
    {"polls", Kind::integer, "", "100", 1, 1e6, "", "polls in a repetition"},
    // Completing the previous repetition's messages would take longer than a window.
    {"sync", Kind::choice, "", "barrier", 0, 0, "barrier", "repetitions start after MPI_Barrier"}};

constexpr auto availability_metrics = concurrent_metrics(
    OverRanks::root,
    {timed_rank_metric(OverRanks::root, "messages", "", "messages that rank 0 received during the work"),
     timed_rank_metric(OverRanks::root, "bandwidth", "B/s",
                       "bytes that rank 0 received per second of this time")});

}  // namespace

extern constinit const WorkloadInfo availability{
    .name = "availability",
    .role = "availability",
    .operation = "polling",
    .size = "bytes",
    .help = "computation with a poll after each interval, while messages flow in both directions",
    .time = "the work and the polls, on rank 0",
    .min_ranks = 2,
    .max_ranks = 2,
    .timing = Timing::root,
    .parameters = availability_parameters,
    .metrics = availability_metrics,
    .make = make<Availability>,
};

}  // namespace hockney::nonblocking
