// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "npb/cg/outer_products.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "npb/frame/random.hpp"

namespace hockney::npb {
namespace {

constexpr double cg_rcond = 0.1;
constexpr std::uint64_t cg_seed = 314159265;

std::vector<std::size_t> cg_numbers(std::span<const Range> ranges) {
  std::vector<std::size_t> numbers;
  for (const Range& range : ranges)
    for (std::size_t number = range.begin; number < range.end; ++number) numbers.push_back(number);
  return numbers;
}

}  // namespace

OuterProducts::OuterProducts(const CgSize& size) : size_(size), begin_(size.order + 1) {
  const std::size_t n = size_.order;
  const auto range = static_cast<double>(std::bit_ceil(n));
  elements_.reserve(n * (size_.nonzeros + 1));
  Random random(cg_seed);
  random.next();
  for (std::size_t i = 0; i < n; ++i) {
    const auto begin = static_cast<std::ptrdiff_t>(elements_.size());
    const auto find = [&](std::size_t place) {
      return std::find_if(elements_.begin() + begin, elements_.end(),
                          [place](const Element& element) { return element.place == place; });
    };
    while (elements_.size() < begin_[i] + size_.nonzeros) {
      const double value = random.next();
      const auto place = static_cast<std::size_t>(range * random.next());
      if (place < n && find(place) == elements_.end())
        elements_.push_back({static_cast<std::uint32_t>(place), value});
    }
    if (const auto local = find(i); local != elements_.end())
      local->value = 0.5;
    else
      elements_.push_back({static_cast<std::uint32_t>(i), 0.5});
    begin_[i + 1] = elements_.size();
  }
}

OuterProducts::Rows::Rows(const OuterProducts& source, std::span<const Range> rows,
                          std::span<const Range> columns)
    : source_(source), rows_(cg_numbers(rows)), place_(source.order(), no_place), begin_(rows_.size() + 1) {
  const std::vector<std::size_t> numbers = cg_numbers(columns);
  for (std::size_t place = 0; place < numbers.size(); ++place)
    place_[numbers[place]] = static_cast<std::uint32_t>(place);
  sums_.resize(numbers.size());
  last_call_.resize(numbers.size());

  std::vector<std::uint32_t> row_place(source.order(), no_place);
  for (std::size_t row = 0; row < rows_.size(); ++row)
    row_place[rows_[row]] = static_cast<std::uint32_t>(row);
  for (const Element& element : source.elements_)
    if (row_place[element.place] != no_place) ++begin_[row_place[element.place] + 1];
  for (std::size_t row = 0; row < rows_.size(); ++row) begin_[row + 1] += begin_[row];
  factors_.resize(begin_.back());
  std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
  const double ratio = std::pow(cg_rcond, 1.0 / static_cast<double>(source.order()));
  double scale = 1;
  for (std::size_t i = 0; i < source.order(); ++i, scale *= ratio)
    for (const Element& element : source.vector(i))
      if (const std::uint32_t row = row_place[element.place]; row != no_place)
        factors_[next[row]++] = {static_cast<std::uint32_t>(i), scale * element.value};
}

std::span<const std::uint32_t> OuterProducts::Rows::columns(std::size_t row) {
  touched_columns_.clear();
  ++call_;
  const auto add = [&](std::size_t column, double value) {
    const std::uint32_t place = place_[column];
    if (place == no_place) return;
    if (last_call_[place] != call_) {
      last_call_[place] = call_;
      sums_[place] = 0;
      touched_columns_.push_back(place);
    }
    sums_[place] += value;
  };
  for (std::size_t i = begin_[row]; i < begin_[row + 1]; ++i)
    for (const Element& element : source_.vector(factors_[i].vector))
      add(element.place, factors_[i].factor * element.value);
  add(rows_[row], cg_rcond - source_.size_.shift);
  std::sort(touched_columns_.begin(), touched_columns_.end());
  return touched_columns_;
}

}  // namespace hockney::npb
