// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The constants of the compressible Navier-Stokes equations of LU, BT and SP (Bailey et al. 1994, section 3).
namespace hockney::npb::flow {

inline constexpr double c1 = 1.4;
inline constexpr double c2 = 0.4;
inline constexpr double c3 = 0.1;
inline constexpr double c4 = 1.0;
inline constexpr double c5 = 1.4;

// The artificial viscosity of each direction, the same for all components, and the coefficient of the fourth
// difference.
inline constexpr double viscosity[3] = {0.75, 0.75, 1.0};
inline constexpr double dissipation = 0.25;

}  // namespace hockney::npb::flow
