// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "local/instruction_sets.hpp"
#include "local/semiring.hpp"

#ifdef HOCKNEY_X86
namespace hockney::local {
namespace {

using Set_avx2 = Registers<32, 4, 2>;

}  // namespace

extern constexpr Products products_avx2{
    Product<PlusTimes<double>, Set_avx2>::add,
    Product<PlusTimes<float>, Set_avx2>::add,
    Product<MinPlus, Set_avx2>::add,
};

}  // namespace hockney::local
#endif
