// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// The MPI functions and the symbols by which programs call them. hockney/profiles/interposition.py generates
// both tables: the first from functions.txt, the second from the symbols of an MPI library.
#pragma once

#include <cstdint>

namespace hockney::profile {

enum class Language : std::uint8_t { c, fortran, fortran_2008 };

// The kinds of calls that records distinguish.
enum class Class : std::uint8_t {
  local,
  init,
  session,
  finalize,
  finalize_session,
  abort,
  control,
  clock,  // MPI_Wtime: calls are counted, without their time
  send,
  start_send,
  prepare_send,
  receive,
  start_receive,
  prepare_receive,
  receive_message,  // of a matched probe
  start_receive_message,
  send_receive,
  start_send_receive,
  probe,
  poll_probe,
  collective,
  start_collective,
  prepare_collective,
  neighbors,
  start_neighbors,
  prepare_neighbors,
  wait,
  wait_all,
  wait_any,
  wait_some,
  test,
  test_all,
  test_any,
  test_some,
  start,
  start_all,
  free_request,
  cancel,
  poll,  // MPI_Parrived, MPI_Win_test: a flag without a request that it frees
  new_communicator,
  start_communicator,
  free_communicator,
  name_communicator,
  free_type,
  new_window,
  free_window,
  put,
  get,
  fence,
  synchronize_window,
  open_file,
  close_file,
  file,
  start_file,
};

enum Parameter : std::uint8_t {
  count_,
  type_,
  send_count,
  send_type,
  receive_count,
  receive_type,
  send_counts,  // of a vector collective
  receive_counts,
  receive_types,
  destination_,
  source_,
  root_,
  tag_,
  receive_tag_,
  communicator_,
  new_communicator_,
  request_,
  requests_,
  status_,
  statuses_,
  flag_,
  index_,
  indices_,
  completed,  // number of completed requests
  length_,    // of the array of requests
  window_,
  file_,
  message_,
  partitions_,
  level_,
  name_,
  parameter_count,
};

struct Function {
  const char* name;  // without MPI_
  Class kind;
  bool no_error_code;  // returns a value instead
  bool starts;         // returns a request
  bool gathers;        // the root receives
  std::int8_t parameters;
  std::int8_t fortran_error;        // place of IERROR in Fortran, or -1
  std::int8_t at[parameter_count];  // place of the argument, or -1
  std::uint32_t wide_parameters;    // bits of Parameter: always 64 bits wide
  bool wide(Parameter which) const { return wide_parameters >> which & 1; }
};

struct Symbol {
  const char* name;
  std::uint16_t function;
  Language language;
  bool large;                // the function for large counts
  std::uint8_t stack_words;  // arguments beyond those in registers, at most
  void* own;                 // the exported wrapper
};

extern const Function functions[];
extern const Symbol symbols[];
extern void* real[];  // functions of the MPI library, nullptr until they are used
extern const std::uint32_t symbol_count;

}  // namespace hockney::profile
