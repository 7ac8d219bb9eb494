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

// Converts a message of the library, without its name.
inline InvalidCase make_invalid_case(std::string_view message) {
  constexpr std::string_view library = "hockney::annealing: ";
  if (message.starts_with(library)) message.remove_prefix(library.size());
  return InvalidCase(std::string(message));
}

// Runs `step` of the library, whose exceptions are thrown on all ranks, as a step of a case.
template <class Step>
auto run_as_case(Step step) {
  try {
    return step();
  } catch (const std::logic_error& error) {  // invalid arguments, and energies that are not numbers
    throw make_invalid_case(error.what());
  } catch (const OutOfMemory&) {
    throw;
  } catch (const std::runtime_error& error) {  // errors of this MPI, or of a file
    throw make_invalid_case(error.what());
  }
}

// Walkers of a problem whose type the workload need not know.
class Ensemble {
 public:
  virtual ~Ensemble() = default;

  // Creates the walkers. Collective. Throws InvalidCase.
  virtual void prepare(const Options& options, MPI_Comm comm) = 0;
  // Runs the annealing, once after each prepare().
  virtual void run() = 0;
  // Completes a run: returns its report, and whether the final energies match the final states. Collective,
  // called once after run(). Throws InvalidCase if an energy is not a finite number.
  virtual std::pair<Report, Check> finish(bool is_proposed_state) = 0;

  virtual const Instance& instance() const = 0;
  // Number of cities, spins or facilities.
  virtual int size() const = 0;
};

template <Problem P>
class EnsembleOf final : public Ensemble {
 public:
  explicit EnsembleOf(P problem) : problem_(std::move(problem)) {}

  void prepare(const Options& options, MPI_Comm comm) override {
    annealing_.reset();
    run_as_case([&] { annealing_.emplace(problem_, options, comm); });
  }
  void run() override {
    run_as_case([&] { annealing_->run(); });
  }

  // All energies are integers, so changes add up without rounding errors.
  std::pair<Report, Check> finish(bool is_proposed_state) override {
    const auto result = run_as_case([&] { return annealing_->result(); });
    Check check;
    for (const auto& walker : result.walkers) {
      if (!is_proposed_state) break;
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
