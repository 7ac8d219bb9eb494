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
  for (char& character : version)
    if (character == '\t') character = ' ';
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
  rusage usage{};
  return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
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
  return processors ? to_list(*processors) : "";
}

int count_ranks_on_host(const Comm& comm) {
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

// Core of this rank, given the ranks of its node; unknown if the core is shared by more ranks than it has
// available processors.
Core known_core(const Comm& node) {
  const std::optional<Processors> own_processors = affinity();
  const Core core = own_processors ? core_of(*own_processors) : Core{};
  const std::string number = std::to_string(core.core);
  const std::string all =
      node.allgather_text(core.core < 0 ? "" : number + " " + to_list(*own_processors) + "\n");
  if (core.core < 0) return core;
  Processors all_processors{};
  int ranks = 0;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t blank = all.find(' ', at);
    const std::size_t end = all.find('\n', blank);
    if (all.compare(at, blank - at, number) == 0) {
      const Processors rank = parse_list(all.substr(blank + 1, end - blank - 1)).value_or(Processors{});
      for (std::size_t i = 0; i < rank.size(); ++i) all_processors[i] |= rank[i];
      ++ranks;
    }
    at = end + 1;
  }
  return ranks > count(all_processors) ? Core{} : core;
}

}  // namespace
#endif

RankLocation locate(const Comm& comm) {
#ifdef HOCKNEY_SMPI
  static_cast<void>(comm);
  return {host_name(), {}};
#else
  MPI_Comm handle;
  MPI_Comm_split_type(comm.handle, MPI_COMM_TYPE_SHARED, comm.rank, MPI_INFO_NULL, &handle);
  const Comm node = Comm::owner(handle);
  // Several nodes may have the same host name, for example network namespaces on one host.
  const std::string host = host_name() + "\n";
  const std::string leaders = "\n" + comm.allgather_text(node.root() ? host : "");
  const std::size_t first = leaders.find("\n" + host);
  const bool is_unique = node.root() && leaders.find("\n" + host, first + 1) == std::string::npos;
  const std::string name = host_name() + (is_unique ? "" : "/" + std::to_string(comm.rank));
  return {node.allgather_text(node.root() ? name : ""), known_core(node)};
#endif
}

std::string gather_ranks(const Comm& comm) {
  const RankLocation location = locate(comm);
  Json rank;
  rank.field("host", host_name())
      .field("pid", static_cast<std::int64_t>(getpid()))
      .field("cpus", allowed_cpus())
      .field("node", location.node);
  if (location.core.core >= 0)
    rank.field("core", location.core.core)
        .field("cache", location.core.cache)
        .field("socket", location.core.socket);
  const std::string list = comm.gather_text((comm.root() ? "" : ",") + rank.str());
  return comm.root() ? "[" + list + "]" : "";
}

namespace {

// Quotes within a text are escaped with a backslash, so these strings only occur as field names.
constexpr const char* first_field = "{\"host\":\"";

// The text that follows `field`; empty if there is no such field.
std::string_view text_after(std::string_view field, std::string_view object) {
  const std::size_t position = object.find(field);
  return position == std::string_view::npos ? "" : object.substr(position + field.size());
}

int number_after(std::string_view field, std::string_view object) {
  std::string_view text = text_after(field, object);
  return take_leading_number(text).value_or(-1);
}

}  // namespace

std::vector<RankLocation> parse_locations(const std::string& ranks) {
  std::vector<RankLocation> spots;
  for (std::size_t at = ranks.find(first_field); at != std::string::npos;) {
    const std::size_t next = ranks.find(first_field, at + 1);
    const std::string_view rank = std::string_view(ranks).substr(at, next - at);
    const std::string_view node = text_after("\"node\":\"", rank);
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
