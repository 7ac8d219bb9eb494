// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// Annealings on one rank, one line of JSON for each:
//   annealing_moves moves CITIES REPETITIONS      the library, and a plain program at the same temperatures
//   annealing_moves optimum KIND STEPS SEED NAME  one annealing of an instance with a known optimum
// Seconds are processor time, which other programs on the machine hardly change.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <hockney/annealing.hpp>
#include <hockney/annealing/quadratic_assignment.hpp>
#include <hockney/annealing/spin_glass.hpp>
#include <hockney/annealing/travelling_salesman.hpp>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace hockney::annealing;

double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// The parameters that the page documents.
Options documented(int steps, std::uint64_t seed) {
  Options options;
  options.walkers = 64;
  options.steps = steps;
  options.rounds = 300;
  options.speed = 0.3;
  options.seed = seed;
  return options;
}

template <class P>
Report annealed(const P& problem, const Options& options, double& seconds) {
  Annealing<P> annealing(problem, options, MPI_COMM_SELF);
  const double start = processor_seconds();
  annealing.run();
  seconds = processor_seconds() - start;
  return annealing.result();
}

// 2-opt as in textbooks: any two positions, the part between them reversed, std::mt19937, and an exponential
// function for each move that is not an improvement.
double plain(const TravellingSalesman& problem, const Options& options, const std::vector<Round>& rounds,
             double& seconds) {
  const int n = problem.size();
  std::vector<std::vector<int>> distance(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) distance[i].push_back(problem.distances()(i, j));
  std::mt19937 generator(static_cast<std::mt19937::result_type>(options.seed));
  std::uniform_int_distribution<int> any(0, n - 1);
  std::uniform_real_distribution<double> probability(0, 1);
  std::vector<std::vector<int>> tours(static_cast<std::size_t>(options.walkers));
  std::vector<double> energies;
  for (std::vector<int>& tour : tours) {
    tour.resize(static_cast<std::size_t>(n));
    std::iota(tour.begin(), tour.end(), 0);
    std::shuffle(tour.begin(), tour.end(), generator);
    double energy = 0;
    for (int i = 0; i < n; ++i) energy += distance[tour[i]][tour[(i + 1) % n]];
    energies.push_back(energy);
  }
  double best = *std::min_element(energies.begin(), energies.end());
  const double start = processor_seconds();
  for (const Round& round : rounds)
    for (std::size_t w = 0; w < tours.size(); ++w) {
      std::vector<int>& tour = tours[w];
      for (int step = 0; step < options.steps; ++step) {
        int i = any(generator);
        int j = any(generator);
        if (i > j) std::swap(i, j);
        if (i == j || (i == 0 && j == n - 1)) continue;
        const int before = tour[(i + n - 1) % n];
        const int after = tour[(j + 1) % n];
        const double change = distance[before][tour[j]] + distance[tour[i]][after] -
                              distance[before][tour[i]] - distance[tour[j]][after];
        if (change > 0 && probability(generator) >= std::exp(-change / round.temperature)) continue;
        std::reverse(tour.begin() + i, tour.begin() + j + 1);
        energies[w] += change;
        best = std::min(best, energies[w]);
      }
    }
  seconds = processor_seconds() - start;
  return best;
}

void moves(int cities, int repetitions) {
  const TravellingSalesman problem = TravellingSalesman::uniform(cities, 1);
  for (int i = 1; i <= repetitions; ++i) {
    Options options = documented(10 * cities, static_cast<std::uint64_t>(i));
    options.walkers = 8;  // enough to see the heat capacity
    double seconds = 0;
    double plain_seconds = 0;
    const Report report = annealed(problem, options, seconds);
    const double plain_best = plain(problem, options, report.rounds, plain_seconds);
    std::printf(
        "{\"moves\": %lld, \"accepted\": %lld, \"s\": %.6g, \"best\": %.0f, \"plain_s\": %.6g, "
        "\"plain_best\": %.0f}\n",
        static_cast<long long>(report.steps), static_cast<long long>(report.accepted), seconds,
        report.best_energy, plain_seconds, plain_best);
    std::fflush(stdout);
  }
}

template <class P>
void optimum(const P& problem, int steps, std::uint64_t seed) {
  double seconds = 0;
  const Report report = annealed(problem, documented(steps, seed), seconds);
  std::printf("{\"size\": %d, \"best\": %.0f, \"optimum\": %.0f, \"moves\": %lld, \"s\": %.6g}\n",
              problem.size(), report.best_energy, *problem.optimum(), static_cast<long long>(report.steps),
              seconds);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 3 && words[0] == "moves") {
    moves(std::stoi(words[1]), std::stoi(words[2]));
  } else if (words.size() == 5 && words[0] == "optimum") {
    const int steps = std::stoi(words[2]);
    const std::uint64_t seed = std::stoull(words[3]);
    if (words[1] == "tsp") optimum(TravellingSalesman::load(words[4]), steps, seed);
    if (words[1] == "qap") optimum(QuadraticAssignment::load(words[4]), steps, seed);
    if (words[1] == "2d") optimum(SpinGlass::planted(2, std::stoi(words[4]), 1), steps, seed);
    if (words[1] == "3d") optimum(SpinGlass::planted(3, std::stoi(words[4]), 1), steps, seed);
  } else {
    std::fprintf(stderr, "usage: annealing_moves moves CITIES REPETITIONS | optimum KIND STEPS SEED NAME\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Finalize();
}
