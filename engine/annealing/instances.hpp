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

// Reads a file on rank 0 and returns its text on every rank. Collective.
inline std::string read_file(const Comm& comm, const std::string& path) {
  constexpr std::size_t max_bytes = std::size_t{256} << 20;
  std::string text;
  bool read = true;
  if (comm.root()) {
    std::ifstream file(path, std::ios::binary);
    for (char character = 0; text.size() <= max_bytes && file.get(character);) text += character;
    read = file.eof() && text.size() <= max_bytes;
  }
  if (!comm.all(read))
    throw InvalidCase("instance=file:" + path + " cannot be read by rank 0 (a file of at most 256 MiB)");
  return comm.allgather_text(std::move(text));
}

// Instances named by `instance=` other than files; these have sizes and seeds.
struct Generated {
  int size;
  int dimensions;
  std::uint64_t seed;
};

[[noreturn]] inline void no_such_instance(const std::string& instance, const std::string& problem) {
  throw InvalidCase("instance=" + instance + " is not one of problem=" + problem);
}

inline TravellingSalesman tours(const std::string& instance, const Generated& spec) {
  if (instance == "generated") return TravellingSalesman::uniform(spec.size, spec.seed);
  if (instance == "circle") return TravellingSalesman::circle(spec.size);
  if (instance == "grid") return TravellingSalesman::grid(spec.size, spec.size);
  if (!find_instance(instance, "tsp")) no_such_instance(instance, "tsp");
  return TravellingSalesman::load(instance);
}

inline SpinGlass glass(const std::string& instance, const Generated& spec) {
  if (instance == "planted") return SpinGlass::planted(spec.dimensions, spec.size, spec.seed);
  if (instance != "generated") no_such_instance(instance, "spin_glass");
  return {spec.dimensions, spec.size, spec.seed};
}

inline QuadraticAssignment assignments(const std::string& instance, const Generated& spec) {
  if (instance == "generated") return QuadraticAssignment::uniform(spec.size, spec.seed);
  if (!find_instance(instance, "dat")) no_such_instance(instance, "qap");
  return QuadraticAssignment::load(instance);
}

template <Problem P>
std::unique_ptr<Ensemble> ensemble_of(P problem) {
  return std::make_unique<EnsembleOf<P>>(std::move(problem));
}

// Makes the ensemble for a case. Collective.
inline std::unique_ptr<Ensemble> ensemble(const Comm& comm, const Values& values) {
  const std::string& problem = values.word("problem");
  const std::string& instance = values.word("instance");
  const Generated spec{static_cast<int>(values.integer("size")),
                       static_cast<int>(values.integer("dimensions")),
                       static_cast<std::uint64_t>(values.integer("instance_seed"))};
  constexpr std::string_view scheme = "file:";
  const bool file = instance.starts_with(scheme);
  std::istringstream text(file ? read_file(comm, instance.substr(scheme.size())) : "");
  return run_as_case([&] {
    if (problem == "spin_glass") return ensemble_of(glass(instance, spec));
    if (problem == "qap")
      return ensemble_of(file ? read_qaplib(text, instance) : assignments(instance, spec));
    return ensemble_of(file ? read_tsplib(text, instance) : tours(instance, spec));
  });
}

}  // namespace hockney::annealing
