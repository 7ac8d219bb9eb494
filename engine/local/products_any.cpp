// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "local/instruction_sets.hpp"
#include "local/semiring.hpp"

namespace hockney::local {
namespace {

using Set_any = Registers<16, 4, 2>;

}  // namespace

extern constexpr Products products_any{
    Product<PlusTimes<double>, Set_any>::add,
    Product<PlusTimes<float>, Set_any>::add,
    Product<MinPlus, Set_any>::add,
};

}  // namespace hockney::local
