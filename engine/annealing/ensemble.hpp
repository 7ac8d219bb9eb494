// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "base/invalid_case.hpp"
#include "hockney/annealing.hpp"
#include "hockney/annealing/instance.hpp"
#include "measure/workload.hpp"

namespace hockney::annealing {

// A message of the library, without its name.
inline InvalidCase refused(std::string_view message) {
  constexpr std::string_view library = "hockney::annealing: ";
  if (message.starts_with(library)) message.remove_prefix(library.size());
  return InvalidCase(std::string(message));
}

// Runs `step` of the library, whose exceptions all ranks throw alike, as a step of a case.
template <class Step>
auto as_case(Step step) {
  try {
    return step();
  } catch (const std::logic_error& error) {  // arguments, and energies that are not numbers
    throw refused(error.what());
  } catch (const OutOfMemory&) {
    throw;
  } catch (const std::runtime_error& error) {  // of this MPI, or of a file
    throw refused(error.what());
  }
}

// Walkers of some problem, whose type the workload does not need.
class Ensemble {
 public:
  virtual ~Ensemble() = default;

  // Collective: creates the walkers. Throws InvalidCase.
  virtual void prepare(const Options& options, MPI_Comm comm) = 0;
  // The annealing, once after each prepare().
  virtual void run() = 0;
  // Collective, once after run(): its report, and whether the final energies are those of the final states.
  // Throws InvalidCase if an energy is not a finite number.
  virtual std::pair<Report, Check> finish(bool proposed) = 0;

  virtual const Instance& instance() const = 0;
  // Cities, spins or facilities.
  virtual int size() const = 0;
};

template <Problem P>
class EnsembleOf final : public Ensemble {
 public:
  explicit EnsembleOf(P problem) : problem_(std::move(problem)) {}

  void prepare(const Options& options, MPI_Comm comm) override {
    annealing_.reset();
    as_case([&] { annealing_.emplace(problem_, options, comm); });
  }
  void run() override {
    as_case([&] { annealing_->run(); });
  }

  // All energies are whole numbers, so changes add up without rounding errors.
  std::pair<Report, Check> finish(bool proposed) override {
    const auto result = as_case([&] { return annealing_->result(); });
    Check check;
    for (const auto& walker : result.walkers) {
      if (!proposed) break;
      const double energy = problem_.energy(walker.state);
      check += {sizeof energy, 0, ""};
      if (walker.energy == energy) continue;
      check += {0, 1,
                "the energy of walker " + std::to_string(walker.number) + " is " +
                    std::to_string(walker.energy) + ", that of its state " + std::to_string(energy)};
    }
    return {result, check};
  }

  const Instance& instance() const override { return problem_.instance(); }
  int size() const override { return problem_.size(); }

 private:
  const P problem_;
  std::optional<Annealing<P>> annealing_;
};

}  // namespace hockney::annealing
