#include "textflag.h"

// The kernel calls it on the thread's stack for signals, with the signal's
// number in DI and what is known of it at SI, and puts every register back when
// it is done: it writes one byte to the pipe and knows nothing of Go. The
// highest bit says that the kernel sent it: si_code is SI_KERNEL.
TEXT ·onSignal(SB), NOSPLIT|NOFRAME|TOPFRAME, $0-0
	SUBQ $16, SP
	XORL AX, AX
	CMPL 8(SI), $0x80
	SETEQ AX
	SHLL $7, AX
	ORL  DI, AX
	MOVB AX, (SP)
	MOVL ·caughtPipe(SB), DI
	MOVQ SP, SI
	MOVL $1, DX
	MOVL $1, AX // write
	SYSCALL
	ADDQ $16, SP
	RET

TEXT ·signalReturn(SB), NOSPLIT|NOFRAME|TOPFRAME, $0-0
	MOVL $15, AX // rt_sigreturn
	SYSCALL
	INT $3

// func signalEntry() (handler, restorer uintptr)
TEXT ·signalEntry(SB), NOSPLIT, $0-16
	LEAQ ·onSignal(SB), AX
	MOVQ AX, handler+0(FP)
	LEAQ ·signalReturn(SB), AX
	MOVQ AX, restorer+8(FP)
	RET

// It has an effect by having been called: the call that it came into ends.
TEXT ·onInterrupt(SB), NOSPLIT|NOFRAME|TOPFRAME, $0-0
	RET

// func interruptEntry() (handler uintptr)
TEXT ·interruptEntry(SB), NOSPLIT, $0-8
	LEAQ ·onInterrupt(SB), AX
	MOVQ AX, handler+0(FP)
	RET
