// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/environment.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

#include "base/json.hpp"
#include "base/leading_number.hpp"
#include "comm/affinity.hpp"

namespace hockney {

Library library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string version(text);
  for (char& c : version)
    if (c == '\t') c = ' ';
  version = version.substr(0, version.find('\n'));
  int major = 0;
  int minor = 0;
  MPI_Get_version(&major, &minor);
  return {std::to_string(major) + "." + std::to_string(minor), version};
}

long preemptions() {
#if defined(HOCKNEY_SMPI) || !defined(RUSAGE_THREAD)
  return 0;
#else
  rusage used{};
  return getrusage(RUSAGE_THREAD, &used) == 0 ? used.ru_nivcsw : 0;
#endif
}

std::string host_name() {
#ifdef HOCKNEY_SMPI
  char name[MPI_MAX_PROCESSOR_NAME + 1] = {};
  int length = 0;
  MPI_Get_processor_name(name, &length);
#else
  // Not MPI_Get_processor_name, which may lack the domain or be an address.
  char name[256] = {};
  gethostname(name, sizeof name - 1);
#endif
  return name;
}

std::string engine_digest() {
#ifdef HOCKNEY_SMPI
  return "";
#else
  std::ifstream file("/proc/self/exe", std::ios::binary);
  if (!file) return "";
  std::uint64_t value = 0xcbf29ce484222325U;  // FNV-1a (Fowler, Noll, Vo)
  for (std::istreambuf_iterator<char> byte(file), end; byte != end; ++byte)
    value = (value ^ static_cast<unsigned char>(*byte)) * 0x100000001b3U;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016" PRIx64, value);
  return digits;
#endif
}

std::string allowed_cpus() {
  const std::optional<Processors> processors = affinity();
  return processors ? list_of(*processors) : "";
}

int ranks_on_this_host(const Comm& comm) {
#ifdef HOCKNEY_SMPI
  return comm.size;
#else
  MPI_Comm node;
  MPI_Comm_split_type(comm.handle, MPI_COMM_TYPE_SHARED, comm.rank, MPI_INFO_NULL, &node);
  int size = 1;
  MPI_Comm_size(node, &size);
  MPI_Comm_free(&node);
  return size;
#endif
}

#ifndef HOCKNEY_SMPI
namespace {

// Of the ranks of a node: nothing of those that share a core with more ranks than there are processors.
Core known_core(const Comm& node) {
  const std::optional<Processors> mine = affinity();
  const Core core = mine ? core_of(*mine) : Core{};
  const std::string number = std::to_string(core.core);
  const std::string all = node.joined_everywhere(core.core < 0 ? "" : number + " " + list_of(*mine) + "\n");
  if (core.core < 0) return core;
  Processors together{};
  int ranks = 0;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t blank = all.find(' ', at);
    const std::size_t end = all.find('\n', blank);
    if (all.compare(at, blank - at, number) == 0) {
      const Processors rank = listed(all.substr(blank + 1, end - blank - 1)).value_or(Processors{});
      for (std::size_t i = 0; i < rank.size(); ++i) together[i] |= rank[i];
      ++ranks;
    }
    at = end + 1;
  }
  return ranks > count(together) ? Core{} : core;
}

}  // namespace
#endif

Spot locate(const Comm& comm) {
#ifdef HOCKNEY_SMPI
  static_cast<void>(comm);
  return {host_name(), {}};
#else
  MPI_Comm handle;
  MPI_Comm_split_type(comm.handle, MPI_COMM_TYPE_SHARED, comm.rank, MPI_INFO_NULL, &handle);
  const Comm node = Comm::owner(handle);
  // Several nodes may have the same host name, for example network namespaces on one host.
  const std::string host = host_name() + "\n";
  const std::string leaders = "\n" + comm.joined_everywhere(node.root() ? host : "");
  const std::size_t first = leaders.find("\n" + host);
  const bool unique = node.root() && leaders.find("\n" + host, first + 1) == std::string::npos;
  const std::string name = host_name() + (unique ? "" : "/" + std::to_string(comm.rank));
  return {node.joined_everywhere(node.root() ? name : ""), known_core(node)};
#endif
}

std::string gather_ranks(const Comm& comm) {
  const Spot spot = locate(comm);
  Json rank;
  rank.field("host", host_name())
      .field("pid", static_cast<std::int64_t>(getpid()))
      .field("cpus", allowed_cpus())
      .field("node", spot.node);
  if (spot.core.core >= 0)
    rank.field("core", spot.core.core).field("cache", spot.core.cache).field("socket", spot.core.socket);
  const std::string list = comm.joined((comm.root() ? "" : ",") + rank.str());
  return comm.root() ? "[" + list + "]" : "";
}

namespace {

// Quotes inside a text have a backslash, so these are only found as names of fields.
constexpr const char* first_field = "{\"host\":\"";

// What follows `field`; empty if there is no such field.
std::string_view after(std::string_view field, std::string_view object) {
  const std::size_t found = object.find(field);
  return found == std::string_view::npos ? "" : object.substr(found + field.size());
}

int number_after(std::string_view field, std::string_view object) {
  std::string_view text = after(field, object);
  return take_leading_number(text).value_or(-1);
}

}  // namespace

std::vector<Spot> spots_in(const std::string& ranks) {
  std::vector<Spot> spots;
  for (std::size_t at = ranks.find(first_field); at != std::string::npos;) {
    const std::size_t next = ranks.find(first_field, at + 1);
    const std::string_view rank = std::string_view(ranks).substr(at, next - at);
    const std::string_view node = after("\"node\":\"", rank);
    std::size_t length = 0;
    while (node[length] != '"') length += node[length] == '\\' ? 2 : 1;
    spots.push_back({std::string(node.substr(0, length)),
                     {number_after("\"core\":", rank), number_after("\"cache\":", rank),
                      number_after("\"socket\":", rank)}});
    at = next;
  }
  return spots;
}

}  // namespace hockney
