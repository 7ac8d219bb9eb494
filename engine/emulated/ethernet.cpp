// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0

// hockney-ethernet: runs a command in an Ethernet of emulated hosts, which exists while the command runs.
// Under the name hockney-ethernet-agent it is a remote shell to these hosts: launchers need a path without
// arguments.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulated/agent.hpp"
#include "emulated/medium.hpp"
#include "emulated/room.hpp"

namespace {

constexpr const char* usage =
    "usage: hockney-ethernet [--hosts N] [--rate BITS_PER_S] [--medium bus|switch] [--mtu BYTES] [--delay "
    "SECONDS]\n"
    "                        [--send-buffer BYTES] [--trunk HOSTS:BITS_PER_S] [--fault "
    "HOST[-HOST]:SLOWDOWN:LOSS] -- COMMAND...\n"
    "COMMAND runs on host front; hockney-ethernet-agent HOST COMMAND... runs one on host h1, h2, ...\n";

constexpr double max_hosts = 250;
constexpr double fastest = 1e12;  // bits per second
constexpr double smallest_packet = 68, largest_packet = 65000;
constexpr double longest_delay_s = 10;
constexpr double largest_buffer = 1 << 30;
constexpr double max_slowdown = 1e6, max_loss = 0.99;

// Parses a number from `low` to `high`.
std::optional<double> number(const std::string& text, double low, double high) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value >= low && value <= high)) return std::nullopt;
  return value;
}

std::optional<int> parse_integer(const std::string& text, double low, double high) {
  const auto value = number(text, low, high);
  return value && *value == std::floor(*value) ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

template <typename To, typename From>
bool take(To& target, const std::optional<From>& value) {
  if (value) target = *value;
  return value.has_value();
}

// Parses "3:1.1:0", a fault of host h3, or "2-5:1:0.01", of the path between two hosts.
std::optional<hockney::emulated::Fault> parse_fault(const std::string& text) {
  const std::size_t first = text.find(':'), second = text.find(':', first + 1);
  if (first == std::string::npos || second == std::string::npos) return std::nullopt;
  const auto slowdown = number(text.substr(first + 1, second - first - 1), 1, max_slowdown);
  const auto loss = number(text.substr(second + 1), 0, max_loss);
  if (!slowdown || !loss) return std::nullopt;
  hockney::emulated::Fault fault{{}, *slowdown, *loss};
  const std::string hosts = text.substr(0, first);
  const std::size_t dash = hosts.find('-');
  for (const std::string& host : dash == std::string::npos
                                     ? std::vector{hosts}
                                     : std::vector{hosts.substr(0, dash), hosts.substr(dash + 1)}) {
    const auto value = parse_integer(host, 1, max_hosts);
    if (!value) return std::nullopt;
    fault.hosts.push_back(*value - 1);
  }
  return fault;
}

// Parses "3:1e7", the rate of the cable behind the first three hosts.
std::optional<hockney::emulated::Trunk> parse_trunk(const std::string& text) {
  const std::size_t colon = std::min(text.find(':'), text.size() - 1);
  const auto hosts = parse_integer(text.substr(0, colon), 1, max_hosts);
  const auto rate = number(text.substr(colon + 1), hockney::emulated::slowest, fastest);
  if (!hosts || !rate) return std::nullopt;
  return hockney::emulated::Trunk{*hosts, *rate};
}

bool set(hockney::emulated::Settings& settings, const std::string& option, const std::string& value) {
  if (option == "--medium") {
    settings.medium = value;
    return value == "bus" || value == "switch";
  }
  if (option == "--hosts") return take(settings.hosts, parse_integer(value, 1, max_hosts));
  if (option == "--rate")
    return take(settings.bits_per_second, number(value, hockney::emulated::slowest, fastest));
  if (option == "--mtu") return take(settings.mtu, parse_integer(value, smallest_packet, largest_packet));
  if (option == "--delay") return take(settings.delay_s, number(value, 0, longest_delay_s));
  if (option == "--trunk") return take(settings.trunk, parse_trunk(value));
  if (option == "--fault") {
    const auto fault = parse_fault(value);
    if (fault) settings.faults.push_back(*fault);
    return fault.has_value();
  }
  if (option == "--send-buffer") return take(settings.send_buffer, parse_integer(value, 0, largest_buffer));
  return false;
}

}  // namespace

int main(int count, char** arguments) {
  hockney::emulated::Settings settings;
  const std::vector<std::string> words(arguments + 1, arguments + count);
  if (std::string_view(arguments[0]).ends_with("-agent")) return hockney::emulated::run_on_host(words);
  std::size_t next = 0;
  while (next + 1 < words.size() && words[next] != "--") {
    if (!set(settings, words[next], words[next + 1])) {
      std::fprintf(stderr, "hockney-ethernet: bad option %s %s\n%s", words[next].c_str(),
                   words[next + 1].c_str(), usage);
      return 2;
    }
    next += 2;
  }
  if (next + 1 >= words.size()) {
    std::fputs(usage, stderr);
    return 2;
  }
  try {
    return run_inside(settings, {words.begin() + static_cast<std::ptrdiff_t>(next) + 1, words.end()});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hockney-ethernet: %s\n", error.what());
    return hockney::emulated::setup_failed;
  }
}
