// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/clock.hpp"
#include "measure/pair_base.hpp"
#include "measure/parameters.hpp"

namespace hockney::patterns {
namespace {

// PRTT(n, d, s), the parametrised round trip of Hoefler, Lichei and Rehm (2007): n messages of s bytes with a
// pause d after each but the last, then one message of s bytes back. LogGP's o_s, g and G follow from
// differences of such times. A pause must be longer than the gap, whatever the network: `pause` gives it in
// round trips of one message, measured in each visit before the first repetition.
class ParametrisedRoundTrip final : public PairBase {
 public:
  ParametrisedRoundTrip(const Place& place, const Values& values)
      : PairBase(place, values),
        messages_(values.integer("messages")),
        pause_(values.real("pause")),
        delay_s_(values.real("delay")) {}

  void prepare(int) override {
    if (prepared_ || messages_ == 1) return;
    prepared_ = true;
    if (pause_ > 0) delay_s_ += pause_ * round_trip();
    paused_s_ = first() ? pause_length_s() : 0;
  }

  void run() override { train(messages_); }

  // The pause is the same for all repetitions of a visit; each visit measures its own round trip.
  void sample(MetricValues& values) override { values.set("paused", paused_s_); }

  std::uint64_t bytes_moved() const override {
    return block_.bytes * static_cast<std::uint64_t>(messages_ + 1);
  }

 private:
  static constexpr std::size_t samples = 11;

  void train(std::int64_t messages) {
    std::byte* const out = outgoing_.next();
    std::byte* const in = incoming_.next();
    if (first()) {
      MPI_Send(out, block_.count, block_.type, partner_, tag, comm_.handle);
      for (std::int64_t i = 1; i < messages; ++i) {
        spin(delay_s_);
        MPI_Send(out, block_.count, block_.type, partner_, tag, comm_.handle);
      }
      MPI_Recv(in, block_.count, block_.type, partner_, tag, comm_.handle, MPI_STATUS_IGNORE);
    } else {
      for (std::int64_t i = 0; i < messages; ++i)
        MPI_Recv(in, block_.count, block_.type, partner_, tag, comm_.handle, MPI_STATUS_IGNORE);
      MPI_Send(out, block_.count, block_.type, partner_, tag, comm_.handle);
    }
  }

  // Measures PRTT(1, 0, s) on rank 0, after warming up.
  double round_trip() {
    std::array<double, samples> times;
    for (double& time : times) {
      const double start = now();
      train(1);
      time = now() - start;
    }
    return median(times);
  }

  // The actual length of a pause, including readings of the clock: up to two more than requested.
  double pause_length_s() const {
    if (delay_s_ == 0) return 0;
    std::array<double, samples> times;
    constexpr int pauses_per_measurement = 4;  // to reduce the effect of the readings around them
    for (double& time : times) {
      const double start = now();
      for (int i = 0; i < pauses_per_measurement; ++i) spin(delay_s_);
      time = (now() - start) / pauses_per_measurement;
    }
    return median(times);
  }

  static double median(std::array<double, samples>& times) {
    std::nth_element(times.begin(), times.begin() + samples / 2, times.end());
    return times[samples / 2];
  }

  const std::int64_t messages_;
  const double pause_;
  double delay_s_;
  double paused_s_ = 0;
  bool prepared_ = false;
};

constexpr Parameter prtt_parameters[] = {
    parameters::bytes("bytes in each message (s)"),
    {"messages", Kind::integer, "", "1", 1, 1e6, "", "messages before the reply (n)"},
    {"delay", Kind::real, "s", "0", 0, 10, "", "pause between two messages (d)"},
    {"pause", Kind::real, "", "0", 0, 1000, "",
     "additional pause, as a multiple of a round trip of one message that is measured "
     "beforehand"},
};

constexpr Metric metrics[] = {
    {"paused", "s", OverRanks::root, Per::repetition, false,
     "actual pause between two messages, including readings of the clock"},
};

}  // namespace

extern constinit const WorkloadInfo prtt{
    .name = "prtt",
    .role = "train",
    .operation = "isend",
    .size = "bytes",
    .help = "parametrised round trip PRTT(n, d, s), from which LogGP's parameters are derived",
    .time = "the whole round trip",
    .min_ranks = 2,
    .max_ranks = 2,
    .timing = Timing::root,
    .parameters = prtt_parameters,
    .metrics = metrics,
    .make = make<ParametrisedRoundTrip>,
};

}  // namespace hockney::patterns
