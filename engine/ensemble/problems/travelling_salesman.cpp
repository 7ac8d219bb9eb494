// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "hockney/annealing/travelling_salesman.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ensemble/problems/generating.hpp"
#include "ensemble/problems/shipped.hpp"

namespace hockney::annealing {
namespace {

// Pairs of each city with its nearest cities, in both directions, without duplicates. A city close to many
// others is in more pairs than average, and all pairs have the same probability. Sets `max_distance` to the
// largest of all distances.
std::vector<std::array<std::int32_t, 2>> near_pairs(const Distances& distances, std::int32_t& max_distance) {
  // D. S. Johnson, L. A. McGeoch, The traveling salesman problem: a case study, 1997, use 20 neighbors at all
  // sizes and 10 for speed; with 10, fewer rejected moves are proposed.
  constexpr int nearest = 10;
  const int cities = distances.size();
  const int count = std::min(nearest, cities - 1);
  std::vector<std::array<std::int32_t, 2>> pairs;
  pairs.reserve(2 * static_cast<std::size_t>(cities) * static_cast<std::size_t>(count));
  std::vector<std::pair<std::int32_t, std::int32_t>> neighbors_by_distance;
  for (std::int32_t city = 0; city < cities; ++city) {
    neighbors_by_distance.clear();
    for (std::int32_t other = 0; other < cities; ++other)
      if (other != city) neighbors_by_distance.emplace_back(distances(city, other), other);
    max_distance = std::max(
        max_distance, std::max_element(neighbors_by_distance.begin(), neighbors_by_distance.end())->first);
    std::nth_element(neighbors_by_distance.begin(), neighbors_by_distance.begin() + (count - 1),
                     neighbors_by_distance.end());
    for (int i = 0; i < count; ++i) {
      const std::int32_t other = neighbors_by_distance[static_cast<std::size_t>(i)].second;
      pairs.push_back({city, other});
      pairs.push_back({other, city});
    }
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

}  // namespace

TravellingSalesman::TravellingSalesman(Instance instance, Distances distances)
    : instance_{std::move(instance)}, distances_{std::move(distances)}, cities_{distances_.size()} {
  check_generated(cities_, least_cities, most_cities, "cities");
  near_ = near_pairs(distances_, longest_);
  // One move in 17 is between any two cities.
  constexpr std::size_t near_share = 16;
  choices_ = static_cast<std::uint32_t>(near_.size() + std::max<std::size_t>(1, near_.size() / near_share));
}

TravellingSalesman TravellingSalesman::load(const std::string& instance) {
  const OpenInstance open(instance, "tsp", "TSPLIB");
  TravellingSalesman problem = read_tsplib(open.in(), open.file());
  problem.instance_.name = open.name();
  if (open.shipped_instance() != nullptr) problem.instance_.source = "TSPLIB (Reinelt 1991)";
  return problem;
}

TravellingSalesman TravellingSalesman::uniform(int cities, std::uint64_t seed) {
  check_generated(cities, least_cities, most_cities, "cities");
  constexpr std::uint32_t side = 1'000'000;
  Random random(seed, 0, instance_stream);
  std::vector<Distances::Point> points(index(cities));
  for (Distances::Point& point : points) {
    point.x = random.below(side);
    point.y = random.below(side);
  }
  return {{generated_name("uniform", {cities}, seed), "uniform cities in a square", std::nullopt},
          {Metric::euclidean, std::move(points)}};
}

TravellingSalesman TravellingSalesman::grid(int rows, int columns) {
  constexpr int max_side = most_cities / 2;
  check_generated(rows, 2, max_side, "rows");
  check_generated(columns, 2, max_side, "columns");
  check_generated(std::int64_t{rows} * columns, least_cities, most_cities, "cities");
  constexpr int spacing = 100;
  constexpr int diagonal = 141;  // rounded to the nearest integer
  std::vector<Distances::Point> points;
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column)
      points.push_back({static_cast<double>(spacing) * column, static_cast<double>(spacing) * row});
  // No edge is shorter than the spacing. Steps along the grid alternate between two colors of a checkerboard,
  // so a tour of an odd number of cities needs one other step; the diagonal is the shortest.
  const int cities = rows * columns;
  const int optimum = cities * spacing + (cities % 2 == 1 ? diagonal - spacing : 0);
  return {{"grid-" + std::to_string(rows) + "-" + std::to_string(columns), "cities on a grid", optimum},
          {Metric::euclidean, std::move(points)}};
}

TravellingSalesman TravellingSalesman::circle(int cities) {
  check_generated(cities, least_cities, most_cities, "cities");
  constexpr double radius = 100'000;
  const double angle = 2 * std::acos(-1.0) / cities;
  std::vector<Distances::Point> points;
  for (int city = 0; city < cities; ++city)
    points.push_back({radius * std::cos(angle * city), radius * std::sin(angle * city)});
  // No two cities are closer than neighbors on the circle.
  const double step = std::floor(2 * radius * std::sin(angle / 2) + 0.5);
  return {{"circle-" + std::to_string(cities), "cities on a circle", step * cities},
          {Metric::euclidean, std::move(points)}};
}

TravellingSalesman::State TravellingSalesman::initial(Random& random) const {
  State state{random_permutation(cities_, random), {}};
  std::vector<std::int32_t>& position = state.position;
  position.resize(state.city.size());
  for (std::int32_t i = 0; i < cities_; ++i) position[index(state.city[index(i)])] = i;
  return state;
}

double TravellingSalesman::energy(const State& state) const {
  std::int64_t sum = 0;
  for (std::int32_t i = 0; i < cities_; ++i)
    sum += distances_(state.city[index(i)], state.city[index(next(i))]);
  return static_cast<double>(sum);
}

void TravellingSalesman::load(State& state, const std::byte* in) const {
  state.city.resize(index(cities_));
  state.position.resize(index(cities_));
  std::memcpy(state.city.data(), in, bytes());
  for (std::int32_t i = 0; i < cities_; ++i) state.position[index(state.city[index(i)])] = i;
}

}  // namespace hockney::annealing
