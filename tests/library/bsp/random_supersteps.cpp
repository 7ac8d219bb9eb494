// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// random_supersteps FIRST_SEED SEEDS: random puts, gets and messages, on every path, compared with a
// sequential program that every process runs for all of them. Prints the number of supersteps that were
// compared.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <hockney/bsp.hpp>
#include <random>
#include <string>
#include <vector>

namespace {

using hockney::bsp::Headers;
using hockney::bsp::Path;
using hockney::bsp::Process;
using hockney::bsp::Registration;
using hockney::bsp::Settings;
using Bytes = std::vector<unsigned char>;

constexpr std::size_t area_bytes = 200'000;
// Registered memory, of which the last two are for unbuffered operations, and memory that is not registered.
enum Memory { first, second, third, written, read_only, registered, here = registered, unbuffered, memories };

enum Kind { put, get, get_into_area, hpput, hpget, send, kinds };
struct Operation {
  Kind kind;
  int issuer, pid;
  int area;
  std::size_t offset, bytes;  // in the area
  std::size_t at;             // in memory of the issuer
  unsigned char value;        // what a put or message consists of
  std::string message() const { return std::string(bytes, static_cast<char>(value)); }
};

// What all processes have: memory, and the sizes that they have registered.
struct World {
  explicit World(int processes) : memory(static_cast<std::size_t>(processes)), size(memory.size()) {
    for (std::size_t pid = 0; pid < memory.size(); ++pid)
      for (int k = 0; k < memories; ++k)
        for (std::size_t n = 0; n < area_bytes; ++n)
          memory[pid][k].push_back(
              static_cast<unsigned char>(31 * pid + 7 * static_cast<std::size_t>(k) + n));
  }
  struct Owned {
    Bytes bytes[memories];
    Bytes& operator[](int k) { return bytes[k]; }
  };
  struct Sizes {
    std::size_t bytes[registered] = {};
    std::size_t& operator[](int k) { return bytes[k]; }
  };
  std::vector<Owned> memory;
  std::vector<Sizes> size;
};

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::size_t below(std::size_t most) { return most < 2 ? 0 : engine_() % most; }
  // Mostly small, up to `most`.
  std::size_t size(std::size_t most) {
    const double scale = static_cast<double>(below(1000)) / 1000;
    return std::min(most, static_cast<std::size_t>(std::pow(static_cast<double>(most) + 1, scale * scale)));
  }

 private:
  std::mt19937_64 engine_;
};

// The operations of one superstep on all processes, in the order of the issuers.
std::vector<Operation> operations(Random& random, World& world) {
  const std::size_t processes = world.memory.size();
  std::vector<Operation> all;
  // Unbuffered operations do not touch each other's memory.
  std::vector<std::size_t> free_written(processes), free_unbuffered(processes);
  const bool quiet = random.below(8) == 0, sparse = random.below(3) == 0;
  for (std::size_t issuer = 0; issuer < processes && !quiet; ++issuer) {
    const std::size_t count = sparse ? random.below(3) : random.below(40);
    for (std::size_t k = 0; k < count; ++k) {
      Operation operation{};
      operation.kind = static_cast<Kind>(random.below(kinds));
      operation.issuer = static_cast<int>(issuer);
      const std::size_t pid = random.below(processes);
      operation.pid = static_cast<int>(pid);
      operation.value = static_cast<unsigned char>(random.below(256));
      operation.area = operation.kind == hpput   ? written
                       : operation.kind == hpget ? read_only
                                                 : static_cast<int>(random.below(3));
      const std::size_t room = operation.kind == send ? area_bytes : world.size[pid][operation.area];
      operation.bytes = random.size(room);
      operation.offset = random.below(room - operation.bytes + 1);
      operation.at = random.below(area_bytes - operation.bytes + 1);
      if (operation.kind == hpput) {
        operation.offset = free_written[pid];
        if (operation.offset + operation.bytes > room) continue;
        free_written[pid] += operation.bytes;
      }
      if (operation.kind == hpput || operation.kind == hpget) {
        operation.at = free_unbuffered[issuer];
        if (operation.at + operation.bytes > area_bytes) continue;
        free_unbuffered[issuer] += operation.bytes;
      }
      all.push_back(operation);
    }
  }
  return all;
}

// The semantics of BSPlib, on all processes one after the other.
void execute(const std::vector<Operation>& all, World& world) {
  const auto part = [&](int pid, int k, std::size_t offset) {
    return world.memory[static_cast<std::size_t>(pid)][k].begin() + static_cast<std::ptrdiff_t>(offset);
  };
  std::vector<Bytes> got;
  for (const Operation& each : all)
    if (each.kind == get || each.kind == get_into_area || each.kind == hpget)
      got.emplace_back(part(each.pid, each.area, each.offset),
                       part(each.pid, each.area, each.offset + each.bytes));
  std::size_t next = 0;
  for (const Operation& each : all)
    if (each.kind == get || each.kind == get_into_area || each.kind == hpget) {
      const int to = each.kind == get ? here : each.kind == hpget ? unbuffered : first;
      std::copy(got[next].begin(), got[next].end(), part(each.issuer, to, each.at));
      ++next;
    }
  for (const Operation& each : all) {
    if (each.kind == put) std::fill_n(part(each.pid, each.area, each.offset), each.bytes, each.value);
    if (each.kind == hpput)
      std::copy_n(part(each.issuer, unbuffered, each.at), each.bytes, part(each.pid, each.area, each.offset));
  }
}

[[noreturn]] void differ(const Process& bsp, const char* what, std::uint64_t seed, const Settings& used) {
  std::fprintf(stderr,
               "process %d, seed %llu, superstep %llu, path %d, headers %d, direct %zu, shared %zu: %s\n",
               bsp.pid(), static_cast<unsigned long long>(seed),
               static_cast<unsigned long long>(bsp.superstep()), static_cast<int>(used.path),
               static_cast<int>(used.headers), used.direct_bytes, used.shared_bytes, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

int supersteps(std::uint64_t seed, const Settings& settings) {
  Process bsp(MPI_COMM_WORLD, settings);
  Random random(seed);
  World expected(bsp.nprocs());
  const auto pid = static_cast<std::size_t>(bsp.pid());
  std::size_t tag_bytes = 0, next_tag_bytes = 0;
  World::Owned own = expected.memory[pid];
  Registration areas[registered];
  const auto push = [&](int k) {
    // Mostly large, so that operations overlap.
    for (auto& sizes : expected.size) {
      const std::size_t kind = random.below(6);
      sizes[k] = kind == 0 ? 0 : kind == 1 ? random.size(area_bytes) : area_bytes - random.below(1000);
    }
    areas[k] = bsp.push_reg(own[k].data(), expected.size[pid][k]);
  };
  for (int k = 0; k < registered; ++k) push(k);
  bsp.sync();
  constexpr int count = 24;
  for (int step = 0; step < count; ++step) {
    const std::vector<Operation> all = operations(random, expected);
    Bytes data;
    std::vector<std::string> messages, received;
    for (const Operation& each : all) {
      const std::string tag(tag_bytes, static_cast<char>(each.value ^ 0x55));
      if (each.kind == send && each.pid == bsp.pid()) messages.push_back(tag + each.message());
      if (each.issuer != bsp.pid()) continue;
      const Registration area = areas[each.area];
      data.assign(each.bytes, each.value);
      const std::span payload(data);
      const std::span tags(tag);
      switch (each.kind) {
        case put: bsp.put(each.pid, data.data(), area, each.offset, each.bytes); break;
        case get: bsp.get(each.pid, area, each.offset, own[here].data() + each.at, each.bytes); break;
        case get_into_area:
          bsp.get(each.pid, area, each.offset, own[first].data() + each.at, each.bytes);
          break;
        case hpput:
          bsp.hpput(each.pid, own[unbuffered].data() + each.at, area, each.offset, each.bytes);
          break;
        case hpget:
          bsp.hpget(each.pid, area, each.offset, own[unbuffered].data() + each.at, each.bytes);
          break;
        case send: bsp.send_bytes(each.pid, std::as_bytes(tags), std::as_bytes(payload)); break;
        case kinds: break;
      }
      std::fill(data.begin(), data.end(), static_cast<unsigned char>(0));
    }
    // The computation goes on: gets read what is there at the end of it.
    const std::size_t changed = random.below(area_bytes);
    for (auto& memory : expected.memory) ++memory[second][changed];
    ++own[second][changed];
    if (random.below(3) == 0) {
      next_tag_bytes = random.below(20);
      bsp.tag_size(next_tag_bytes);
    }
    const bool renew = random.below(4) == 0;
    const int renewed = static_cast<int>(random.below(registered));
    if (renew) {
      bsp.pop_reg(areas[renewed]);
      push(renewed);
    }
    bsp.sync();
    execute(all, expected);
    for (int k = 0; k < memories; ++k)
      if (own[k] != expected.memory[pid][k]) differ(bsp, "memory", seed, bsp.settings());
    std::size_t payload = 0;
    for (const std::string& each : messages) payload += each.size() - tag_bytes;
    if (bsp.messages() != messages.size() || bsp.message_bytes() != payload)
      differ(bsp, "the size of the queue", seed, bsp.settings());
    while (const auto message = bsp.receive()) {
      const auto text = [](std::span<const std::byte> bytes) {
        return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      };
      received.push_back(text(message->tag_bytes()) + text(message->payload_bytes()));
    }
    std::sort(messages.begin(), messages.end());
    std::sort(received.begin(), received.end());
    if (messages != received) differ(bsp, "messages", seed, bsp.settings());
    tag_bytes = next_tag_bytes;
  }
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const int seeds = argc > 2 ? std::atoi(argv[2]) : 1;
  const bool simulated = argc > 3;  // no shared memory
  std::vector<Settings> all;
  for (const std::size_t direct : {std::size_t{0}, std::size_t{300}, std::size_t{20'000}}) {
    if (!simulated)
      for (const std::size_t shared : {std::size_t{0}, std::size_t{3000}, std::size_t{100'000}})
        all.push_back({Path::shared, Headers::automatic, direct, shared, false});
    for (const Headers headers : {Headers::alltoall, Headers::log})
      all.push_back({Path::messages, headers, direct, 0, false});
  }
  int compared = 0;
  for (int k = 0; k < seeds; ++k)
    for (const Settings& settings : all)
      compared += supersteps(seed + static_cast<std::uint64_t>(k), settings);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::printf("%d\n", compared);
  MPI_Finalize();
  return 0;
}
