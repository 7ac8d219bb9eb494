// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// Like call_x86_64.S. Each exported symbol loads its number into w16 and branches here.
  .text

  .macro floats move
  \move q0, q1, [x29, #224]
  \move q2, q3, [x29, #256]
  \move q4, q5, [x29, #288]
  \move q6, q7, [x29, #320]
  .endm

  .macro wrapper name, any
  .p2align 4
  .globl \name
  .hidden \name
  .type \name, %function
\name:
  .cfi_startproc
  stp x29, x30, [sp, #-352]!
  .cfi_def_cfa_offset 352
  .cfi_offset 29, -352
  .cfi_offset 30, -344
  mov x29, sp
  .cfi_def_cfa_register 29
  stp x0, x1, [x29, #16]          // Call at x29 + 16
  stp x2, x3, [x29, #32]
  stp x4, x5, [x29, #48]
  stp x6, x7, [x29, #64]
  add x9, x29, #352
  str x9, [x29, #80]              // stack
  str x30, [x29, #88]             // return_address
  str x8, [x29, #208]
  .if \any
  floats stp
  .endif
  add x0, x29, #16
  mov w1, w16
  bl hockney_profile_enter
  mov x17, x0
  ldr x9, [x29, #104]             // thread
  cbz x9, 3f
  ldr w10, [x29, #132]            // words
  cbz w10, 2f
  add w11, w10, #1
  and w11, w11, #0xfffffffe
  sub sp, sp, x11, lsl #3
  add x12, x29, #352
  mov x14, sp
1:
  sub w10, w10, #1
  ldr x13, [x12, x10, lsl #3]
  str x13, [x14, x10, lsl #3]
  cbnz w10, 1b
2:
  ldp x0, x1, [x29, #16]
  ldp x2, x3, [x29, #32]
  ldp x4, x5, [x29, #48]
  ldp x6, x7, [x29, #64]
  ldr x8, [x29, #208]
  .if \any
  floats ldp
  .endif
  blr x17
  str x0, [x29, #120]             // result
  str d0, [x29, #200]
  add x0, x29, #16
  bl hockney_profile_leave
  ldr x0, [x29, #120]
  ldr d0, [x29, #200]
  mov sp, x29
  .cfi_remember_state
  .cfi_def_cfa_register 31
  ldp x29, x30, [sp], #352
  .cfi_def_cfa_offset 0
  ret
  .cfi_restore_state
3:
  ldp x0, x1, [x29, #16]
  ldp x2, x3, [x29, #32]
  ldp x4, x5, [x29, #48]
  ldp x6, x7, [x29, #64]
  ldr x8, [x29, #208]
  .if \any
  floats ldp
  .endif
  mov sp, x29
  .cfi_def_cfa_register 31
  ldp x29, x30, [sp], #352
  .cfi_def_cfa_offset 0
  br x17
  .cfi_endproc
  .size \name, . - \name
  .endm

  wrapper hockney_profile_call, 0
  wrapper hockney_profile_call_any, 1
  .section .note.GNU-stack, "", %progbits
