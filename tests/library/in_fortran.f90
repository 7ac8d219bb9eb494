! SPDX-FileCopyrightText: The hockney authors
! SPDX-License-Identifier: Apache-2.0
!
! Called by in_fortran.c, because MPI need not have been compiled for Fortran. Returns 1 if all is well.
function in_fortran(comm, integers, sum, rank, ranks) bind(c) result(fine)
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_null_char, c_ptr, c_associated
  use hockney
  implicit none
  integer(c_int), value :: comm, integers, sum, rank, ranks
  integer(c_int) :: fine
  integer(c_int) :: mine(2), total(2), all(2 * ranks)
  type(c_ptr) :: barrier
  fine = 0
  mine = [rank + 1, 10]
  if (hockney_best_barrier(comm, barrier) /= 0) return
  call hockney_barrier_wait(barrier)
  call hockney_barrier_free(barrier)
  if (c_associated(barrier)) return
  if (hockney_make_barrier("dissemination" // c_null_char, comm, barrier) /= 0) return
  call hockney_barrier_wait(barrier)
  call hockney_barrier_free(barrier)
  if (hockney_allreduce(mine, total, 2, integers, sum, comm, "ring" // c_null_char) /= 0) return
  if (total(1) /= ranks * (ranks + 1) / 2 .or. total(2) /= 10 * ranks) return
  total = mine
  if (hockney_allreduce(hockney_in_place, total, 2, integers, sum, comm, "ring" // c_null_char) /= 0) return
  if (total(1) /= ranks * (ranks + 1) / 2 .or. total(2) /= 10 * ranks) return
  all(2 * rank + 1:2 * rank + 2) = mine
  if (hockney_allgather(hockney_in_place, 2, integers, all, 2, integers, comm, "ring" // c_null_char) /= 0) return
  if (any(all(2::2) /= 10) .or. all(1) /= 1) return
  if (hockney_allgather(mine, 2, integers, all, 2, integers, comm, c_null_char) /= 0) return
  if (all(2 * ranks - 1) /= ranks) return
  if (hockney_bcast(all, 2, integers, ranks - 1, comm, "binomial" // c_null_char) /= 0) return
  fine = 1
end function
