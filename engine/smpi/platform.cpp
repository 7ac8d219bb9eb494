// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// A platform plugin for SimGrid's smpirun: the machine that the text in $HOCKNEY_PLATFORM describes.
//
//   HOCKNEY_PLATFORM=machine.txt smpirun -platform libhockney-platform.so -hostfile hosts -np 8 ... program
//
// Nodes are n0, n1, ... The text is hockney/launch/platform_lines.py's.
#include <smpi/smpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <memory>
#include <sstream>

#include "smpi/platform_costs.hpp"
#include "smpi/platform_description.hpp"
#include "smpi/platform_versions.hpp"
#include "smpi/platform_zone.hpp"

namespace hockney::platform {
namespace {

// SMPI adds the envelope to every message, where its links are concerned.
constexpr double envelope = 16;
// SimGrid takes no message for one without latency.
constexpr double least_latency_s = 1e-12;

// The simulated machine; one a process, and no one but SimGrid's
// callbacks, which carry no data of ours, asks for it.
struct Machine {
  std::size_t nodes;
  std::uint64_t most_messages;  // 0: any number
  Zone* zone;
  Costs costs;
  std::uint64_t messages = 0;
};
std::unique_ptr<Machine> machine;

// Ends the process at once: from inside the simulation there is no orderly way out.
[[noreturn]] void stop(const std::string& why) {
  std::fflush(stdout);
  std::fprintf(stderr, "hockney-platform: %s\n", why.c_str());
  std::fflush(stderr);
  _exit(3);
}

double latency_factor(double size, const sg::Host* from, const sg::Host* to, const std::vector<sg::Link*>&,
                      const std::unordered_set<sg::NetZone*>&) {
  if (machine->most_messages > 0 && ++machine->messages > machine->most_messages)
    stop("more than " + std::to_string(machine->most_messages) + " messages were simulated");
  const Message message{Zone::node(from), Zone::node(to), std::max(0.0, size - envelope)};
  const Way way = machine->zone->way(message.from, message.to);
  double time = machine->costs.under_way(message, way, sg::Engine::get_clock());
  if (way.rate > 0) time -= size / way.rate;
  return std::max(time, least_latency_s) / Zone::unit_s;
}

// Links work at their rate; what a message takes longer is latency, in which it takes nothing from others.
double bandwidth_factor(double, const sg::Host*, const sg::Host*, const std::vector<sg::Link*>&,
                        const std::unordered_set<sg::NetZone*>&) {
  return 1.0;
}

// SimGrid does not know the sender of a message received from any source, or from a rank that has ended: it
// is taken for another node's, where there is one.
Message message(std::size_t size, const sg::Host* from, const sg::Host* to) {
  const std::size_t receiver = Zone::node(to);
  const std::size_t sender = from ? Zone::node(from) : receiver == 0 ? machine->nodes - 1 : 0;
  return {sender, receiver, static_cast<double>(size)};
}

std::size_t self() {
  return static_cast<std::size_t>(sg::this_actor::get_pid());
}

void register_overheads() {
  const auto now = [] { return sg::Engine::get_clock(); };
  smpi_register_op_cost_callback(SmpiOperation::SEND, [now](std::size_t size, sg::Host* from, sg::Host* to) {
    return machine->costs.before(message(size, from, to), false, self(), now());
  });
  smpi_register_op_cost_callback(SmpiOperation::ISEND, [now](std::size_t size, sg::Host* from, sg::Host* to) {
    return machine->costs.before(message(size, from, to), true, self(), now());
  });
  smpi_register_op_cost_callback(SmpiOperation::RECV, [now](std::size_t size, sg::Host* from, sg::Host* to) {
    return machine->costs.after(message(size, from, to), self(), now());
  });
}

// std::to_string would make nothing of some nanoseconds.
std::string exact(double value) {
  std::ostringstream text;
  text << std::setprecision(17) << value;
  return text.str();
}

void configure(const Description& description) {
  // SimGrid's threshold is the first size that is not sent before its receive is posted, and an int.
  const auto threshold = std::to_string(static_cast<int>(std::min(description.eager + 1, 2147483647.0)));
  const std::string settings[] = {
      // A link carries what is sent over it, no acknowledgements, and
      // shares alike: SimGrid's factors are those of TCP.
      "network/crosstraffic:0",
      "network/weight-S:0",
      "network/TCP-gamma:0",
      "smpi/send-is-detached-thresh:" + threshold,
      "smpi/async-small-thresh:" + threshold,
      // Polling must take some time for the clock to go on; SimGrid's 100 us are more than most messages.
      "smpi/test:1e-7",
      "smpi/iprobe:1e-7",
      "smpi/grow-injected-times:no",
      // Computing takes no time by itself, and looking at the clock what the description says.
      "smpi/simulate-computation:no",
      "smpi/host-speed:" + std::to_string(description.flops),
      "smpi/wtime:" + exact(description.clock),
  };
  for (const std::string& setting : settings) sg::Engine::set_config(setting);
}

Description describe() {
  const char* const name = std::getenv("HOCKNEY_PLATFORM");
  if (!name || !*name) stop("HOCKNEY_PLATFORM names no file");
  std::ifstream text(name);
  if (!text) stop(std::string(name) + ": cannot be read");
  try {
    return read_description(text);
  } catch (const Refused& refused) {
    stop(std::string(name) + ": " + refused.what());
  }
}

void load(Engine& engine) {
  const Description description = describe();
  configure(description);
  const std::size_t nodes = description.node_count();
  auto* const zone = new Zone(description, nodes);  // SimGrid's, from here on
  zone->get_iface()->seal();
  machine = std::make_unique<Machine>(Machine{nodes, description.events, zone, Costs(description, nodes)});
  set_factors(*zone->get_iface(), engine, latency_factor, bandwidth_factor);
  register_overheads();
}

}  // namespace
}  // namespace hockney::platform

extern "C" void load_platform(hockney::platform::Engine& engine);
void load_platform(hockney::platform::Engine& engine) {
  hockney::platform::load(engine);
}
