// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "local/instruction_sets.hpp"
#include "local/semiring.hpp"

#ifdef HOCKNEY_X86
namespace hockney::local {
namespace {

using Set_avx512 = Registers<64, 8, 3>;

}  // namespace

extern constexpr Products products_avx512{
    Product<PlusTimes<double>, Set_avx512>::add,
    Product<PlusTimes<float>, Set_avx512>::add,
    Product<MinPlus, Set_avx512>::add,
};

}  // namespace hockney::local
#endif
