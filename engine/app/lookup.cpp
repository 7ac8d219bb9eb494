// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "app/lookup.hpp"

#include <algorithm>
#include <cstdio>

#include "base/invalid_case.hpp"
#include "base/json.hpp"
#include "base/words.hpp"

namespace hockney {
namespace {

constexpr int max_nodes = 1000000;

const WorkloadInfo& find(const std::string& name) {
  for (const WorkloadInfo* info : all_workloads())
    if (name == info->name) return *info;
  throw InvalidCase("unknown workload '" + name + "' (--catalog lists all)");
}

std::vector<std::string> choices_of(const Parameter& parameter) {
  std::vector<std::string> choices;
  std::string remaining = parameter.choices;
  while (!remaining.empty()) {
    const std::size_t bar = remaining.find('|');
    choices.push_back(remaining.substr(0, bar));
    remaining = bar == std::string::npos ? "" : remaining.substr(bar + 1);
  }
  return choices;
}

void check_value(const Parameter& parameter, const std::string& text) {
  if (parameter.kind == Kind::choice) {
    for (const std::string& choice : choices_of(parameter))
      if (choice == text) return;
    throw InvalidCase(std::string(parameter.name) + "=" + text + " is not one of " + parameter.choices);
  }
  if (parameter.kind == Kind::text) return;
  const double value = to_real(text, parameter.name);
  if (parameter.kind == Kind::integer) to_integer(text, parameter.name);
  if (value < parameter.low || value > parameter.high)
    throw InvalidCase(std::string(parameter.name) + "=" + text + " is out of range");
}

bool has_parameter(const WorkloadInfo& info, const std::string& name) {
  return std::any_of(info.parameters.begin(), info.parameters.end(),
                     [&](const Parameter& parameter) { return name == parameter.name; });
}

// Determines the number of ranks of the case, and stores it in `values`.
int ranks_of(const WorkloadInfo& info, std::map<std::string, std::string>& values, int launch_ranks,
             bool has_places) {
  const std::string size = std::to_string(launch_ranks);
  const std::string text = values.try_emplace("ranks", size).first->second;
  const std::int64_t ranks = has_places ? to_integer(text, "ranks") : launch_ranks;
  if (has_places ? ranks < 1 || ranks > launch_ranks : text != size)
    throw InvalidCase("the case requires ranks=" + text + ", but " + size + " were started");
  if (ranks < info.min_ranks || (info.max_ranks && ranks > info.max_ranks))
    throw InvalidCase(std::string(info.name) + " needs " +
                      (info.max_ranks == info.min_ranks ? "" : "at least ") + std::to_string(info.min_ranks) +
                      " ranks, but " + (has_places ? "the case has " + text : size + " were started"));
  values["ranks"] = std::to_string(ranks);
  return static_cast<int>(ranks);
}

// place= and nodes= are ignored if the workload itself has a parameter of that name.
Places places_of(const WorkloadInfo& info, std::map<std::string, std::string>& values) {
  Places places;
  const auto place = values.find("place");
  const auto nodes = values.find("nodes");
  if (place != values.end() && !has_parameter(info, "place")) {
    places.pairs = level_named(place->second);
    if (!places.pairs)
      throw InvalidCase("place=" + place->second + " is not one of core|cache|socket|node|network");
  }
  if (nodes != values.end() && !has_parameter(info, "nodes")) {
    const std::int64_t count = to_integer(nodes->second, "nodes");
    if (count < 1 || count > max_nodes) throw InvalidCase("nodes=" + nodes->second + " is out of range");
    places.nodes = static_cast<int>(count);
    nodes->second = std::to_string(count);
  }
  if (places.pairs && places.nodes)
    throw InvalidCase("place= and nodes= exclude each other: both choose the ranks of a case");
  return places;
}

void check_divisible(const Places& places, int ranks) {
  if (places.pairs && ranks % 2 != 0)
    throw InvalidCase("place= needs an even number of ranks, not " + std::to_string(ranks) +
                      ": it is where rank i and rank i + p/2 meet");
  if (places.nodes && ranks % places.nodes != 0)
    throw InvalidCase("nodes=" + std::to_string(places.nodes) + " does not divide ranks=" +
                      std::to_string(ranks) + ": every node has the same number of ranks");
}

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::integer: return "integer";
    case Kind::real: return "real";
    case Kind::choice: return "choice";
    case Kind::text: return "text";
  }
  return "text";
}

// Limits are printed in full because the front end compares against them.
std::string limit(double value) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.17g", value);
  return digits;
}

std::string join(const std::vector<std::string>& objects) {
  std::string list = "[";
  for (const std::string& object : objects) list += (list.size() > 1 ? "," : "") + object;
  return list + "]";
}

std::string describe(const Parameter& parameter) {
  std::vector<std::string> choices;
  for (const std::string& choice : choices_of(parameter)) choices.push_back(json_string(choice));
  return Json()
      .field("name", parameter.name)
      .field("kind", kind_name(parameter.kind))
      .field("unit", parameter.unit)
      .field("default", parameter.standard)
      .raw("low", limit(parameter.low))
      .raw("high", limit(parameter.high))
      .raw("choices", join(choices))
      .field("help", parameter.help)
      .field("multiple_of", parameter.multiple_of)
      .str();
}

std::string describe(const Metric& metric) {
  return Json()
      .field("name", metric.name)
      .field("unit", metric.unit)
      .field("over_ranks", name_of(metric.over_ranks))
      .field("per", name_of(metric.per))
      .raw("phase", metric.phase ? "true" : "false")
      .field("help", metric.help)
      .str();
}

template <class T>
std::string describe_items(std::span<const T> items) {
  std::vector<std::string> objects;
  for (const T& item : items) objects.push_back(describe(item));
  return join(objects);
}

}  // namespace

Case look_up(const std::vector<std::string>& arguments, int ranks) {
  if (arguments.empty()) throw InvalidCase("an empty line is not a case");
  const WorkloadInfo& info = find(arguments.front());
  std::map<std::string, std::string> values = named_words(arguments, 1);
  const Places places = places_of(info, values);
  const int case_ranks = ranks_of(info, values, ranks, places.any());
  check_divisible(places, case_ranks);
  for (const Parameter& parameter : info.parameters) {
    const auto [place, missing] = values.try_emplace(parameter.name, parameter.standard);
    if (!missing) check_value(parameter, place->second);
  }
  for (const auto& [name, value] : values) {
    const bool is_common =
        name == "ranks" || (name == "place" && places.pairs) || (name == "nodes" && places.nodes);
    if (!is_common && !has_parameter(info, name))
      throw InvalidCase(std::string(info.name) + " has no parameter '" + name + "'");
  }
  // std::map keeps names in alphabetical order, as the canonical line requires.
  std::string line = info.name;
  for (const auto& [name, value] : values) line += " " + name + "=" + value;
  return {&info, Values(std::move(values)), line, case_ranks, places};
}

std::string catalog() {
  std::vector<std::string> workloads;
  for (const WorkloadInfo* info : all_workloads())
    workloads.push_back(Json()
                            .field("name", info->name)
                            .field("role", info->role)
                            .field("operation", info->operation)
                            .field("size", info->size)
                            .field("group", executable_name)
                            .field("help", info->help)
                            .field("time", info->time)
                            .field("min_ranks", info->min_ranks)
                            .field("max_ranks", info->max_ranks)
                            .raw("parameters", describe_items(info->parameters))
                            .raw("metrics", describe_items(info->metrics))
                            .str());
  return Json().field("schema", 2).field("engine", HOCKNEY_VERSION).raw("workloads", join(workloads)).str();
}

}  // namespace hockney
