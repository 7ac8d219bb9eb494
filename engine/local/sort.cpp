// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "local/sort.hpp"

#ifdef HOCKNEY_VQSORT
#include <hwy/contrib/sort/vqsort.h>
#endif

namespace hockney::local {

#ifdef HOCKNEY_VQSORT

namespace {

// Provides memory that every sort uses.
hwy::Sorter& sorter() {
  static hwy::Sorter only;
  return only;
}

}  // namespace

void sort(std::span<double> keys) {
  sorter()(keys.data(), keys.size(), hwy::SortAscending());
}

void sort(std::span<std::uint32_t> keys) {
  sorter()(keys.data(), keys.size(), hwy::SortAscending());
}

const char* sorting() {
  return "vqsort";
}

#else

void sort(std::span<double> keys) {
  std::sort(keys.begin(), keys.end());
}

void sort(std::span<std::uint32_t> keys) {
  std::sort(keys.begin(), keys.end());
}

const char* sorting() {
  return "std::sort";
}

#endif

}  // namespace hockney::local
