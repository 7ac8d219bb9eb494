// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "base/abilities.hpp"
#include "base/invalid_case.hpp"
#include "measure/pair_base.hpp"
#include "measure/parameters.hpp"

namespace hockney::send_modes {
namespace {

// A ping-pong in which the receiver determines the length of each message before it receives it.
class ProbePingPong : public PairBase {
 public:
  using PairBase::PairBase;

  void run() final {
    std::byte* const out = outgoing_.next();
    std::byte* const in = incoming_.next();
    if (first()) {
      MPI_Send(out, block_.count, block_.type, partner_, tag, comm_.handle);
      receive(in);
    } else {
      receive(in);
      MPI_Send(out, block_.count, block_.type, partner_, tag, comm_.handle);
    }
  }
  double operations() const final { return 2; }

 protected:
  virtual void receive(std::byte* in) = 0;

  int length(const MPI_Status& status) const {
    int count = 0;
    MPI_Get_count(&status, block_.type, &count);
    return count;
  }
};

class Probe final : public ProbePingPong {
 public:
  using ProbePingPong::ProbePingPong;

 private:
  void receive(std::byte* in) override {
    MPI_Status status;
    MPI_Probe(partner_, tag, comm_.handle, &status);
    MPI_Recv(in, length(status), block_.type, partner_, tag, comm_.handle, MPI_STATUS_IGNORE);
  }
};

// MPI_Mprobe returns the message that is then received, even if other threads receive in between.
class MatchedProbe final : public ProbePingPong {
 public:
  MatchedProbe(const Place& place, const Values& values) : ProbePingPong(place, supported(values)) {}

 private:
  static const Values& supported(const Values& values) {
#if !HOCKNEY_HAS_MPROBE
    throw InvalidCase("probe=mprobe cannot be simulated (SimGrid's MPI has no MPI_Mprobe); use probe=probe");
#endif
    return values;
  }

  void receive(std::byte* in) override {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Mprobe(partner_, tag, comm_.handle, &message, &status);
    MPI_Mrecv(in, length(status), block_.type, &message, MPI_STATUS_IGNORE);
  }
};

std::unique_ptr<Workload> with_probe(const Place& place, const Values& values) {
  if (values.word("probe") == "mprobe") return std::make_unique<MatchedProbe>(place, values);
  return std::make_unique<Probe>(place, values);
}

constexpr Parameter pingpong_probe_parameters[] = {
    parameters::bytes("bytes in each message"),
    parameters::buffers,
    {"probe", Kind::choice, "", "probe", 0, 0, "probe|mprobe",
     "MPI_Probe, then MPI_Recv; or MPI_Mprobe, then MPI_Mrecv of the message found"}};

}  // namespace

extern constinit const WorkloadInfo pingpong_probe{
    .name = "pingpong_probe",
    .role = "point-to-point",
    .operation = "probe",
    .size = "bytes",
    .help = "ping-pong in which the receiver first probes for the length of the message",
    .time = "one direction: half a round trip",
    .min_ranks = 2,
    .max_ranks = 2,
    .timing = Timing::root,
    .parameters = pingpong_probe_parameters,
    .make = with_probe,
};

}  // namespace hockney::send_modes
