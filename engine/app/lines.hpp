// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "app/options.hpp"
#include "app/teams.hpp"
#include "measure/measure.hpp"

// The lines the engine prints; hockney/core/record.py gives every field's meaning.
namespace hockney {

// All lines are printed by rank 0 only; `ranks` is the list from gather_ranks.
std::string launch_line(const Options& options, const std::string& ranks, const ClockCost& clock,
                        double init_s);
std::string start_line(const std::string& case_line, long position);
// Printed after the first visit of every case; all records are printed at the end.
std::string visiting_line();
std::string record_line(const Options& options, const std::string& case_line, long position, double started_s,
                        Synchroniser::Kind kind, double precision, const CaseLocation& where,
                        const Measurement& measurement);
std::string failure_line(const Options& options, const std::string& case_line, const char* reason,
                         const std::string& message);
std::string end_line(long cases);

// This rank's line for --hello. Collective.
std::string hello_line(const Comm& comm);

}  // namespace hockney
