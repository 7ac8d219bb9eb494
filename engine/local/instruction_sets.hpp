// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

// The products of semiring.hpp for each instruction set of this architecture.
namespace hockney::local {

struct Products {
  template <class T>
  using Function = void (*)(std::size_t rows, std::size_t columns, std::size_t depth, const T* left,
                            std::size_t left_stride, const T* right, std::size_t right_stride, T* sums,
                            std::size_t stride);
  Function<double> multiply_doubles;
  Function<float> multiply_floats;
  Function<float> min_plus;
};

extern const Products products_any;
#ifdef HOCKNEY_X86
extern const Products products_avx2;
extern const Products products_avx512;
#endif

// The fastest products that this processor supports.
const Products& products();

}  // namespace hockney::local
