// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/invalid_case.hpp"
#include "comm/comm.hpp"

// The file of a traced program's steps, as written by hockney/replay/replayer.py: a header, the common part
// that every rank needs, and 32 bytes for each step of each rank. Numbers have the host's byte order.
namespace hockney::replayer {

// As in hockney/replay/graph.py, plus one-sided operations, which end with `received`.
enum Kind : std::uint8_t { compute, send, receive, received, sent, enter, leave, put, get };
enum Flag : std::uint8_t { blocking = 1, together = 2, buffered = 4, synchronous = 8 };

struct Step {
  std::uint8_t kind;
  std::uint8_t flags;
  std::uint16_t place;    // call site
  float seconds;          // of computation before the step
  std::int32_t peer;      // in the communicator: of a message the other rank, of a collective the root;
                          // -1: any, or none
  std::int32_t tag;       // of a collective its operation
  std::uint32_t channel;  // the communicator
  std::uint32_t start;    // of an end the number of the step that started it
  std::uint64_t bytes;    // of a collective those of a block or vector

  bool is(Flag flag) const { return flags & flag; }
  bool is_one_sided() const { return kind == put || kind == get; }
  bool is_start() const { return kind == send || kind == receive || kind == enter || is_one_sided(); }
  bool is_end() const { return kind == received || kind == sent || kind == leave; }
};
static_assert(sizeof(Step) == 32);

struct Header {
  char name[8];
  std::uint64_t ranks, communicators, members, places;
};
inline constexpr char name[8] = {'r', 'e', 'p', 'l', 'a', 'y', '0', '1'};

struct Steps {
  std::vector<std::vector<std::uint32_t>> communicators;  // ranks in the program, in the communicator's order
  std::vector<std::uint64_t> windows;                     // bytes for one-sided operations, by communicator
  std::vector<Step> steps;                                // of this rank
  std::size_t places = 0;
  double tail_s = 0;  // computation after the last step
};

// The common part. 64-bit numbers: the first step of each rank and the number of steps, the end of each
// communicator's members, the bytes of each one's window, and the members; then the seconds after the last
// step of each rank.
class Common {
 public:
  Common(const Header& header, const std::string& text) : header_(header), text_(text) {}

  static std::uint64_t size(const Header& header) {
    return 8 * (2 * header.ranks + 1 + 2 * header.communicators + header.members);
  }

  std::uint64_t first(std::uint64_t rank) const { return number(rank); }
  std::vector<std::uint64_t> windows() const {
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < header_.communicators; ++i)
      all.push_back(number(header_.ranks + 1 + header_.communicators + i));
    return all;
  }
  double tail_s(std::uint64_t rank) const {
    double seconds = 0;
    std::memcpy(&seconds,
                &text_[8 * (header_.ranks + 1 + 2 * header_.communicators + header_.members + rank)], 8);
    return seconds;
  }

  std::vector<std::vector<std::uint32_t>> communicators() const {
    std::vector<std::vector<std::uint32_t>> all;
    std::uint64_t begin = 0;
    for (std::uint64_t i = 0; i < header_.communicators; ++i) {
      const std::uint64_t end = number(header_.ranks + 1 + i);
      if (end < begin || end > header_.members)
        throw InvalidCase("the communicators of a replay are damaged");
      auto& members = all.emplace_back();
      for (; begin < end; ++begin) {
        const std::uint64_t member = number(header_.ranks + 1 + 2 * header_.communicators + begin);
        if (member >= header_.ranks)
          throw InvalidCase("a communicator of a replay has ranks that do not exist");
        members.push_back(static_cast<std::uint32_t>(member));
      }
    }
    return all;
  }

 private:
  std::uint64_t number(std::uint64_t index) const {
    std::uint64_t value = 0;
    std::memcpy(&value, &text_[8 * index], 8);
    return value;
  }

  const Header& header_;
  const std::string& text_;
};

// Throws InvalidCase for steps that this rank cannot have.
inline void check_steps(const Steps& program, int rank, int operations) {
  const auto refuse = [](std::size_t index, const char* reason) {
    throw InvalidCase("step " + std::to_string(index) + " of a replay " + reason);
  };
  std::vector<bool> member;
  for (const auto& members : program.communicators)
    member.push_back(std::find(members.begin(), members.end(), static_cast<std::uint32_t>(rank)) !=
                     members.end());
  std::vector<bool> is_ended(program.steps.size());
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (step.kind > get) refuse(i, "is of no kind");
    if (!(step.seconds >= 0) || !std::isfinite(step.seconds)) refuse(i, "computes for no time");
    if (step.place >= program.places) refuse(i, "has no place");
    if (step.is_start()) {
      if (step.channel >= member.size() || !member[step.channel])
        refuse(i, "is in a communicator without this rank");
      const auto size = static_cast<std::int64_t>(program.communicators[step.channel].size());
      if (step.peer < -1 || step.peer >= size) refuse(i, "has a rank that does not exist");
      if ((step.kind == send || step.is_one_sided()) && step.peer < 0) refuse(i, "sends to no rank");
      if (step.is_one_sided() && step.bytes > program.windows[step.channel])
        refuse(i, "is larger than its window");
      if (step.kind == enter && (step.tag < 0 || step.tag >= operations)) refuse(i, "is no known collective");
    }
    if (step.is_end()) {
      const Step* const started = step.start < i ? &program.steps[step.start] : nullptr;
      const Kind kind = step.kind == sent ? send : step.kind == received ? receive : enter;
      const bool one_sided = started && started->is_one_sided() && step.kind != leave;
      if (!started || (!one_sided && started->kind != kind) || is_ended[step.start])
        refuse(i, "ends nothing");
      if (one_sided && step.kind == sent) continue;  // at this rank only
      is_ended[step.start] = true;
    }
  }
}

// Reads the steps. Collective. Every rank reads its own steps if it can, otherwise rank 0 sends them. Throws
// InvalidCase on all ranks.
inline Steps read_steps(const std::string& path, const Comm& comm, int operations) {
  Header header{};
  std::string common;
  std::ifstream file(path, std::ios::binary);
  if (comm.root()) {
    file.read(reinterpret_cast<char*>(&header), sizeof header);
    file.seekg(0, std::ios::end);
    const auto file_bytes = static_cast<std::uint64_t>(std::max<std::streamoff>(0, file.tellg()));
    file.seekg(sizeof header);
    const bool is_valid_header =
        file && std::memcmp(header.name, name, sizeof name) == 0 && header.ranks > 0 &&
        std::max({header.ranks, header.communicators, header.members}) < file_bytes &&
        Common::size(header) < file_bytes;
    if (is_valid_header) {
      common.resize(Common::size(header));
      file.read(common.data(), static_cast<std::streamsize>(common.size()));
    }
    if (!is_valid_header || !file) header.ranks = 0;
  }
  comm.broadcast(header);
  if (header.ranks == 0) throw InvalidCase("the steps '" + path + "' cannot be read by rank 0");
  if (header.ranks != static_cast<std::uint64_t>(comm.size))
    throw InvalidCase("the steps '" + path + "' are those of " + std::to_string(header.ranks) +
                      " ranks, not " + std::to_string(comm.size));
  common.resize(Common::size(header));
  comm.broadcast(common.data(), common.size());
  const Common parts(header, common);
  const std::uint64_t begin = sizeof header + common.size();

  Steps program;
  const auto read = [&](int rank) {
    const auto at = static_cast<std::uint64_t>(rank);
    const std::uint64_t first = parts.first(at), last = parts.first(at + 1);
    std::vector<Step> steps;
    if (first > last || last - first > std::uint64_t{1} << 32) return std::make_pair(steps, false);
    steps.resize(last - first);
    file.seekg(static_cast<std::streamoff>(begin + first * sizeof(Step)));
    file.read(reinterpret_cast<char*>(steps.data()),
              static_cast<std::streamsize>(steps.size() * sizeof(Step)));
    return std::make_pair(std::move(steps), static_cast<bool>(file));
  };
  const bool reachable = file.is_open();
  bool complete = true;
  if (comm.all(reachable)) {
    std::tie(program.steps, complete) = read(comm.rank);
  } else if (comm.root()) {
    std::tie(program.steps, complete) = read(0);
    for (int rank = 1; rank < comm.size; ++rank) {
      auto [steps, file_bytes] = read(rank);
      std::uint64_t count = file_bytes ? steps.size() : ~std::uint64_t{0};
      MPI_Send(&count, sizeof count, MPI_BYTE, rank, 1, comm.handle);
      const Block block(steps.size() * sizeof(Step));
      if (file_bytes) MPI_Send(steps.data(), block.count, block.type, rank, 1, comm.handle);
      file.clear();
    }
  } else {
    std::uint64_t count = 0;
    MPI_Recv(&count, sizeof count, MPI_BYTE, 0, 1, comm.handle, MPI_STATUS_IGNORE);
    complete = count != ~std::uint64_t{0};
    if (complete) {
      program.steps.resize(count);
      const Block block(count * sizeof(Step));
      MPI_Recv(program.steps.data(), block.count, block.type, 0, 1, comm.handle, MPI_STATUS_IGNORE);
    }
  }
  std::string problem = complete ? "" : "the steps '" + path + "' are not complete";
  try {
    program.communicators = parts.communicators();
    program.windows = parts.windows();
    program.places = header.places;
    program.tail_s = parts.tail_s(static_cast<std::uint64_t>(comm.rank));
    if (complete) check_steps(program, comm.rank, operations);
  } catch (const InvalidCase& invalid) {
    problem = invalid.what();
  }
  const int reporter = comm.reduce_min(problem.empty() ? comm.size : comm.rank);
  if (reporter < comm.size) throw InvalidCase(comm.allgather_text(comm.rank == reporter ? problem : ""));
  return program;
}

}  // namespace hockney::replayer
