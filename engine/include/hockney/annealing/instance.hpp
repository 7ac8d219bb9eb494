// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// Instances of optimisation problems: what describes them, what is wrong with a file of one, and those that
// come with the library, which programs find by name without a file at run time.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace hockney::annealing {

/** What is known of an instance, apart from its numbers. */
struct Instance {
  std::string name;
  std::string source;             ///< a citation, a file, or how it was generated
  std::optional<double> optimum;  ///< the lowest energy, if it is proven
};

/** An instance that cannot be read. */
struct InstanceError : std::runtime_error {
  InstanceError(std::string code, std::string file, std::size_t line, std::string expected,
                std::string found);

  /** not-found: no such name or file; syntax: not the file's format; incomplete: something is missing;
      unsupported: a valid file of a kind that is not implemented; value: a number out of range, or numbers
      that contradict each other. */
  std::string code;
  std::string file;
  std::size_t line;  ///< counted from 1; 0: the file as a whole
  std::string expected;
  std::string found;
};

/** An instance that comes with the library. */
struct ShippedInstance {
  std::string_view name;      ///< as in its collection
  std::string_view kind;      ///< tsp: a TSPLIB file; dat: a QAPLIB file
  std::string_view text;      ///< the whole file
  std::string_view solution;  ///< of a QAPLIB file: its optimal solution, another file; otherwise empty
};

/** All of them, in alphabetical order. */
std::span<const ShippedInstance> shipped_instances();

/** The one of this name and kind, or nullptr. */
const ShippedInstance* find_instance(std::string_view name, std::string_view kind);

}  // namespace hockney::annealing
