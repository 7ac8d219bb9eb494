// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "annealing/ensemble.hpp"
#include "comm/comm.hpp"
#include "hockney/annealing/quadratic_assignment.hpp"
#include "hockney/annealing/spin_glass.hpp"
#include "hockney/annealing/travelling_salesman.hpp"
#include "measure/values.hpp"

// The instance that a case names.
namespace hockney::annealing {

// A file's text, as rank 0 reads it, on every rank. Collective.
inline std::string text_of_file(const Comm& comm, const std::string& path) {
  constexpr std::size_t most = std::size_t{256} << 20;
  std::string text;
  bool read = true;
  if (comm.root()) {
    std::ifstream file(path, std::ios::binary);
    for (char c = 0; text.size() <= most && file.get(c);) text += c;
    read = file.eof() && text.size() <= most;
  }
  if (!comm.all(read))
    throw InvalidCase("instance=file:" + path + " cannot be read by rank 0 (a file of at most 256 MiB)");
  return comm.joined_everywhere(std::move(text));
}

// What `instance=` names, apart from files: these have sizes and seeds of their own.
struct Generated {
  int size;
  int dimensions;
  std::uint64_t seed;
};

[[noreturn]] inline void no_such_instance(const std::string& instance, const std::string& problem) {
  throw InvalidCase("instance=" + instance + " is not one of problem=" + problem);
}

inline TravellingSalesman tours(const std::string& instance, const Generated& wanted) {
  if (instance == "generated") return TravellingSalesman::uniform(wanted.size, wanted.seed);
  if (instance == "circle") return TravellingSalesman::circle(wanted.size);
  if (instance == "grid") return TravellingSalesman::grid(wanted.size, wanted.size);
  if (!find_instance(instance, "tsp")) no_such_instance(instance, "tsp");
  return TravellingSalesman::load(instance);
}

inline SpinGlass glass(const std::string& instance, const Generated& wanted) {
  if (instance == "planted") return SpinGlass::planted(wanted.dimensions, wanted.size, wanted.seed);
  if (instance != "generated") no_such_instance(instance, "spin_glass");
  return {wanted.dimensions, wanted.size, wanted.seed};
}

inline QuadraticAssignment assignments(const std::string& instance, const Generated& wanted) {
  if (instance == "generated") return QuadraticAssignment::uniform(wanted.size, wanted.seed);
  if (!find_instance(instance, "dat")) no_such_instance(instance, "qap");
  return QuadraticAssignment::load(instance);
}

template <Problem P>
std::unique_ptr<Ensemble> ensemble_of(P problem) {
  return std::make_unique<EnsembleOf<P>>(std::move(problem));
}

// Collective.
inline std::unique_ptr<Ensemble> ensemble(const Comm& comm, const Values& values) {
  const std::string& problem = values.word("problem");
  const std::string& instance = values.word("instance");
  const Generated wanted{static_cast<int>(values.integer("size")),
                         static_cast<int>(values.integer("dimensions")),
                         static_cast<std::uint64_t>(values.integer("instance_seed"))};
  constexpr std::string_view scheme = "file:";
  const bool file = instance.starts_with(scheme);
  std::istringstream text(file ? text_of_file(comm, instance.substr(scheme.size())) : "");
  return as_case([&] {
    if (problem == "spin_glass") return ensemble_of(glass(instance, wanted));
    if (problem == "qap")
      return ensemble_of(file ? read_qaplib(text, instance) : assignments(instance, wanted));
    return ensemble_of(file ? read_tsplib(text, instance) : tours(instance, wanted));
  });
}

}  // namespace hockney::annealing
