// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// A platform plug-in for SimGrid's smpirun: creates the machine described by the text in $HOCKNEY_PLATFORM.
//
//   HOCKNEY_PLATFORM=machine.txt smpirun -platform libhockney-platform.so -hostfile hosts -np 8 ... program
//
// Nodes are n0, n1, ... The text's format is defined in hockney/launch/smpi.py.
#include <simgrid/host.h>
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

// For its links, SMPI adds the envelope to the size of every message.
constexpr double envelope = 16;
// SimGrid does not accept a latency of zero.
constexpr double min_latency_s = 1e-12;

// The simulated machine, one per process. Only used by SimGrid's callbacks, which cannot carry user data.
struct Machine {
  Machine(std::size_t node_count, std::uint64_t most_messages, Zone* its_zone, const Description& description)
      : nodes(node_count), max_messages(most_messages), zone(its_zone), costs(description, node_count) {}

  std::size_t nodes;
  std::uint64_t max_messages;  // 0: unlimited
  Zone* zone;
  MessageCosts costs;
  std::uint64_t messages = 0;
};
std::unique_ptr<Machine> machine;

// Ends the process immediately: there is no orderly exit from inside the simulation.
[[noreturn]] void stop(const std::string& reason) {
  std::fflush(stdout);
  std::fprintf(stderr, "hockney-platform: %s\n", reason.c_str());
  std::fflush(stderr);
  _exit(3);
}

double latency_factor(double size, const sg::Host* from, const sg::Host* to, const std::vector<sg::Link*>&,
                      const std::unordered_set<sg::NetZone*>&) {
  if (machine->max_messages > 0 && ++machine->messages > machine->max_messages)
    stop("more than " + std::to_string(machine->max_messages) + " messages were simulated");
  const Message message{Zone::node(from), Zone::node(to), std::max(0.0, size - envelope)};
  const Route route = machine->zone->route(message.from, message.to);
  double time = machine->costs.flight_s(message, route, sg::Engine::get_clock());
  if (route.rate > 0) time -= size / route.rate;
  return std::max(time, min_latency_s) / Zone::unit_s;
}

// Links transmit at their rate; the remaining time of a message is latency, during which it uses no
// bandwidth.
double bandwidth_factor(double, const sg::Host*, const sg::Host*, const std::vector<sg::Link*>&,
                        const std::unordered_set<sg::NetZone*>&) {
  return 1.0;
}

// SimGrid does not report the sender of a message received from any source, or from a rank that has ended;
// the sender is assumed to be on another node, if there is one.
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

// std::to_string would round nanoseconds to zero.
std::string exact(double value) {
  std::ostringstream text;
  text << std::setprecision(17) << value;
  return text.str();
}

void configure(const Description& description) {
  // SimGrid's threshold is an int: the smallest size that is not sent before its receive is posted.
  const auto threshold = std::to_string(static_cast<int>(std::min(description.eager + 1, 2147483647.0)));
  const std::string settings[] = {
      // A link carries only the data, no acknowledgements, and shares its rate equally: SimGrid's default
      // factors model TCP.
      "network/crosstraffic:0",
      "network/weight-S:0",
      "network/TCP-gamma:0",
      "smpi/send-is-detached-thresh:" + threshold,
      "smpi/async-small-thresh:" + threshold,
      // Polling must take some time for the clock to advance; SimGrid's default of 100 us exceeds the time of
      // most messages.
      "smpi/test:1e-7",
      "smpi/iprobe:1e-7",
      "smpi/grow-injected-times:no",
      // Computing takes no simulated time; reading the clock takes the time given in the description.
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
  } catch (const InvalidDescription& invalid) {
    stop(std::string(name) + ": " + invalid.what());
  }
}

void load(Engine& engine) {
  const Description description = describe();
  configure(description);
  const std::size_t nodes = description.node_count();
  auto* const zone = new Zone(description, nodes);  // owned by SimGrid from now on
  zone->get_iface()->seal();
  machine = std::make_unique<Machine>(nodes, description.events, zone, description);
  for (sg::Host* host : engine.get_all_hosts())
    sg_host_set_data(host, machine->costs.processor(Zone::node(host)));
  set_factors(*zone->get_iface(), engine, latency_factor, bandwidth_factor);
  register_overheads();
}

}  // namespace
}  // namespace hockney::platform

extern "C" void load_platform(hockney::platform::Engine& engine);
void load_platform(hockney::platform::Engine& engine) {
  hockney::platform::load(engine);
}
