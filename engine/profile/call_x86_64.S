// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// A wrapper of any function: it forwards the arguments unchanged, in registers and on the stack. Each
// exported symbol loads its number into %r11 and jumps here. call.hpp declares Call. The functions of the
// standard take no floating-point arguments; hockney_profile_call_any serves all others.
  .intel_syntax noprefix
  .text

  .macro floats move
  .irp k, 0, 1, 2, 3, 4, 5, 6, 7
  \move \k
  .endr
  .endm
  .macro keep k
  movaps [rbp - 320 + 16 * \k], xmm\k
  .endm
  .macro give k
  movaps xmm\k, [rbp - 320 + 16 * \k]
  .endm

  .macro wrapper name, any
  .p2align 4
  .globl \name
  .hidden \name
  .type \name, @function
\name:
  .cfi_startproc
  push rbp
  .cfi_def_cfa_offset 16
  .cfi_offset rbp, -16
  mov rbp, rsp
  .cfi_def_cfa_register rbp
  sub rsp, 320                    // Call at rbp - 192
  mov [rbp - 192], rdi
  mov [rbp - 184], rsi
  mov [rbp - 176], rdx
  mov [rbp - 168], rcx
  mov [rbp - 160], r8
  mov [rbp - 152], r9
  lea rdi, [rbp + 16]
  mov [rbp - 128], rdi            // stack
  mov rsi, [rbp + 8]
  mov [rbp - 120], rsi            // return_address
  mov [rbp - 24], rax             // al: of a function with variable arguments
  .if \any
  floats keep
  .endif
  lea rdi, [rbp - 192]
  mov esi, r11d
  call hockney_profile_enter
  mov r11, rax
  cmp qword ptr [rbp - 104], 0    // thread
  je 3f
  mov ecx, [rbp - 76]             // words
  test ecx, ecx
  jz 2f
  lea eax, [rcx + 1]
  and eax, -2
  shl rax, 3
  sub rsp, rax
1:
  mov rax, [rbp + rcx * 8 + 8]
  mov [rsp + rcx * 8 - 8], rax
  dec ecx
  jnz 1b
2:
  mov rdi, [rbp - 192]
  mov rsi, [rbp - 184]
  mov rdx, [rbp - 176]
  mov rcx, [rbp - 168]
  mov r8, [rbp - 160]
  mov r9, [rbp - 152]
  mov rax, [rbp - 24]
  .if \any
  floats give
  .endif
  call r11
  mov [rbp - 88], rax             // result
  movsd [rbp - 32], xmm0          // that of MPI_Wtime
  lea rdi, [rbp - 192]
  call hockney_profile_leave
  mov rax, [rbp - 88]
  movsd xmm0, [rbp - 32]
  leave
  .cfi_remember_state
  .cfi_def_cfa rsp, 8
  ret
  .cfi_restore_state
3:                                // not recorded
  mov rdi, [rbp - 192]
  mov rsi, [rbp - 184]
  mov rdx, [rbp - 176]
  mov rcx, [rbp - 168]
  mov r8, [rbp - 160]
  mov r9, [rbp - 152]
  mov rax, [rbp - 24]
  .if \any
  floats give
  .endif
  leave
  .cfi_def_cfa rsp, 8
  jmp r11
  .cfi_endproc
  .size \name, . - \name
  .endm

  wrapper hockney_profile_call, 0
  wrapper hockney_profile_call_any, 1
  .section .note.GNU-stack, "", @progbits
