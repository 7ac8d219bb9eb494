// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "smpi/platform_description.hpp"

#include <locale.h>
#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <sstream>
#include <utility>

namespace hockney::platform {
namespace {

constexpr std::size_t max_nodes = 1'000'000;

// Reads the words of one line after its key, one by one.
class LineReader {
 public:
  explicit LineReader(const std::string& line) : words_(line) {}

  std::string word(const char* description) {
    std::string word;
    if (!(words_ >> word)) throw InvalidDescription(std::string(description) + " is missing");
    return word;
  }

  double number(const char* description, double minimum, double maximum) {
    const std::string text = word(description);
    // Not std::from_chars, which GCC 10's library lacks for floating point; the decimal point is '.' in every
    // locale.
    static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", nullptr);
    char* end = nullptr;
    const double value = strtod_l(text.c_str(), &end, c_locale);
    if (end != text.c_str() + text.size() || !std::isfinite(value))
      throw InvalidDescription(std::string(description) + " '" + text + "' is not a number");
    if (value < minimum || value > maximum)
      throw InvalidDescription(std::string(description) + " " + text + " is out of range");
    return value;
  }

  double seconds() { return number("a time in seconds", 0, 1e9); }
  double rate() { return number("a rate in bytes per second", 1e-3, 1e30); }
  std::size_t count() {
    const double value = number("a count", 1, static_cast<double>(max_nodes));
    if (value != std::floor(value)) throw InvalidDescription("a count is not whole");
    return static_cast<std::size_t>(value);
  }
  Line line() {
    const double seconds = this->seconds();
    return {seconds, this->seconds()};
  }

  bool has_more() { return !(words_ >> std::ws).eof(); }
  std::vector<std::size_t> counts(std::size_t maximum) {
    std::vector<std::size_t> found;
    while (has_more()) found.push_back(count());
    if (found.empty() || found.size() > maximum)
      throw InvalidDescription("1 to " + std::to_string(maximum) + " counts are wanted");
    return found;
  }

 private:
  std::istringstream words_;
};

void append(std::vector<Segment>& segments, LineReader& words) {
  Segment segment;
  segment.first = words.number("a segment's first size", 0, 1e18);
  for (Line* line : {&segment.send, &segment.isend, &segment.flight, &segment.receive, &segment.gap,
                     &segment.exchange, &segment.processor})
    *line = words.line();
  if (segments.empty() && segment.first != 0)
    throw InvalidDescription("the first segment does not begin at 0 bytes");
  if (!segments.empty() && segment.first <= segments.back().first)
    throw InvalidDescription("segments are not in ascending order");
  segments.push_back(segment);
}

void append(std::vector<Fault>& faults, bool is_uplink, LineReader& words) {
  Fault fault;
  fault.is_uplink = is_uplink;
  const std::size_t count = words.count();
  if (count > 2 && !is_uplink) throw InvalidDescription("a fault concerns one node or two");
  while (fault.nodes.size() < count)
    fault.nodes.push_back(
        static_cast<std::size_t>(words.number("a node", 0, static_cast<double>(max_nodes))));
  fault.slowdown = words.number("a slowdown", 1, 1e6);
  fault.loss = words.number("a share of lost messages", 0, 0.99);
  fault.resend = words.seconds();
  faults.push_back(std::move(fault));
}

smpi::DetourPattern read_detours(LineReader& words) {
  smpi::DetourPattern pattern;
  pattern.seed = static_cast<std::uint64_t>(words.number("a seed", 0, 9e15));
  pattern.period_s = words.number("a period in seconds", 1e-9, 1e9);
  pattern.first_rank = static_cast<std::size_t>(words.number("a rank", 0, 1e9));
  pattern.rank_step = static_cast<std::size_t>(words.number("a step of ranks", 1, 1e9));
  const double nodes = words.number("a number of nodes", 0, static_cast<double>(max_nodes));
  for (std::size_t k = 0; k < static_cast<std::size_t>(nodes); ++k)
    pattern.nodes.push_back(
        static_cast<std::size_t>(words.number("a node", 0, static_cast<double>(max_nodes))));
  double end = 0;
  while (words.has_more()) {
    pattern.starts_s.push_back(words.seconds());
    pattern.lengths_s.push_back(words.seconds());
    if (pattern.starts_s.back() < end) throw InvalidDescription("detours are not in order, or overlap");
    end = pattern.starts_s.back() + pattern.lengths_s.back();
  }
  if (pattern.starts_s.empty()) throw InvalidDescription("detours have no start and length");
  if (end > pattern.period_s ||
      pattern.period_s <= std::accumulate(pattern.lengths_s.begin(), pattern.lengths_s.end(), 0.0))
    throw InvalidDescription("detours do not fit in their period");
  return pattern;
}

std::string choice(LineReader& words, std::initializer_list<const char*> allowed) {
  const std::string found = words.word("a value");
  for (const char* operation_text : allowed)
    if (found == operation_text) return found;
  throw InvalidDescription("'" + found + "' is unknown");
}

const std::map<std::string, std::function<void(Description&, LineReader&)>> keys = {
    {"shape",
     [](Description& d, LineReader& w) {
       d.shape = choice(w, {"switch", "bus", "torus", "mesh", "fat-tree", "dragonfly"});
     }},
    {"dims", [](Description& d, LineReader& w) { d.dims = w.counts(4); }},
    {"down", [](Description& d, LineReader& w) { d.down = w.counts(8); }},
    {"up", [](Description& d, LineReader& w) { d.up = w.counts(8); }},
    {"cables", [](Description& d, LineReader& w) { d.cables = w.counts(8); }},
    {"dragonfly", [](Description& d, LineReader& w) { d.dragonfly = w.counts(4); }},
    {"nodes",
     [](Description& d, LineReader& w) {
       const std::size_t count = w.count();
       d.nodes.push_back({count, static_cast<int>(w.count())});
     }},
    {"nic", [](Description& d, LineReader& w) { d.nic = w.rate(); }},
    {"duplex", [](Description& d, LineReader& w) { d.half_duplex = choice(w, {"full", "half"}) == "half"; }},
    {"link", [](Description& d, LineReader& w) { d.link = w.rate(); }},
    {"hop", [](Description& d, LineReader& w) { d.hop = w.seconds(); }},
    {"medium", [](Description& d, LineReader& w) { d.medium = w.line(); }},
    {"eager", [](Description& d, LineReader& w) { d.eager = w.number("a size in bytes", 0, 1e18); }},
    {"flops", [](Description& d, LineReader& w) { d.flops = w.number("a speed", 1, 1e30); }},
    {"clock", [](Description& d, LineReader& w) { d.clock = w.seconds(); }},
    {"segment", [](Description& d, LineReader& w) { append(d.between, w); }},
    {"on-node", [](Description& d, LineReader& w) { append(d.on_node, w); }},
    {"noise",
     [](Description& d, LineReader& w) {
       d.noise.relative = w.number("a relative noise", 0, 100);
       d.noise.seed = static_cast<std::uint64_t>(w.number("a seed", 0, 9e15));
     }},
    {"fault", [](Description& d, LineReader& w) { append(d.faults, false, w); }},
    {"uplink-fault", [](Description& d, LineReader& w) { append(d.faults, true, w); }},
    {"fault-seed",
     [](Description& d, LineReader& w) {
       d.fault_seed = static_cast<std::uint64_t>(w.number("a seed", 0, 9e15));
     }},
    {"detours", [](Description& d, LineReader& w) { d.detours.push_back(read_detours(w)); }},
    {"events",
     [](Description& d, LineReader& w) {
       d.events = static_cast<std::uint64_t>(w.number("a number of messages", 0, 9e15));
     }},
};

void read_line(Description& description, const std::string& line) {
  LineReader words(line.substr(0, line.find('#')));
  if (!words.has_more()) return;
  const std::string key = words.word("a key");
  const auto found = keys.find(key);
  if (found == keys.end()) throw InvalidDescription("the key '" + key + "' is unknown");
  found->second(description, words);
  if (words.has_more()) throw InvalidDescription("more words than '" + key + "' takes");
}

std::size_t product(const std::vector<std::size_t>& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::size_t{1}, std::multiplies<>());
}

// The number of nodes of the shape; 0 if any number is allowed.
std::size_t extent(const Description& d) {
  if (d.shape == "torus" || d.shape == "mesh") return d.dims.empty() ? 0 : product(d.dims);
  if (d.shape == "fat-tree") return d.down.empty() ? 0 : product(d.down);
  if (d.shape == "dragonfly") return d.dragonfly.empty() ? 0 : product(d.dragonfly);
  return std::numeric_limits<std::size_t>::max();
}

void check(Description& d) {
  if (d.between.empty()) throw InvalidDescription("there is no segment");
  if (d.on_node.empty()) d.on_node = d.between;
  const std::size_t room = extent(d);
  if (room == 0) throw InvalidDescription("the extents of the " + d.shape + " are missing");
  if (d.shape == "fat-tree" && (d.up.size() != d.down.size() || d.cables.size() != d.down.size()))
    throw InvalidDescription("down, up and cables of the fat tree do not have one count for each level");
  if (d.shape == "dragonfly") {
    if (d.dragonfly.size() != 4) throw InvalidDescription("a dragonfly has 4 counts");
    if (d.dragonfly[0] > d.dragonfly[1] * d.dragonfly[2] + 1)
      throw InvalidDescription("the dragonfly's groups have fewer routers than there are other groups");
  }
  if (d.nodes.empty() && room <= max_nodes) d.nodes.push_back({room, 1});
  if (d.nodes.empty()) throw InvalidDescription("no nodes are said");
  if (d.node_count() > std::min(room, max_nodes))
    throw InvalidDescription("there are more nodes than places for them");
  for (const Fault& fault : d.faults)
    for (const std::size_t node : fault.nodes)
      if (node >= d.node_count()) throw InvalidDescription("a fault concerns a node that does not exist");
  if (d.messages_use_processors())
    for (const NodeGroup& group : d.nodes)
      if (group.cores > 1)
        throw InvalidDescription("messages take the time of a processor only on nodes with one core");
}

}  // namespace

std::size_t Description::node_count() const {
  std::size_t count = 0;
  for (const NodeGroup& group : nodes) count += group.count;
  return count;
}

bool Description::messages_use_processors() const {
  return std::any_of(between.begin(), between.end(), [](const Segment& operation_text) {
    return operation_text.processor.seconds > 0 || operation_text.processor.per_byte > 0;
  });
}

Description read_description(std::istream& text) {
  Description description;
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    try {
      read_line(description, line);
    } catch (const InvalidDescription& invalid) {
      throw InvalidDescription("line " + std::to_string(number) + ": " + invalid.what());
    }
  }
  check(description);
  return description;
}

}  // namespace hockney::platform
