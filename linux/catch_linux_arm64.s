#include "textflag.h"

// The kernel calls it on the thread's stack for signals, with the signal's
// number in R0 and what is known of it at R1, and puts every register back when
// it is done: it writes one byte to the pipe and knows nothing of Go. The
// highest bit says that the kernel sent it: si_code is SI_KERNEL.
TEXT ·onSignal(SB), NOSPLIT|NOFRAME|TOPFRAME, $0-0
	SUB  $16, RSP
	MOVW 8(R1), R3
	CMPW $0x80, R3
	CSET EQ, R3
	LSL  $7, R3, R3
	ORR  R3, R0, R0
	MOVB R0, (RSP)
	MOVW ·caughtPipe(SB), R0
	MOVD RSP, R1
	MOVD $1, R2
	MOVD $64, R8 // write
	SVC
	ADD  $16, RSP
	RET

// func signalEntry() (handler, restorer uintptr)
TEXT ·signalEntry(SB), NOSPLIT, $0-16
	MOVD $·onSignal(SB), R0
	MOVD R0, handler+0(FP)
	MOVD ZR, restorer+8(FP)
	RET

// It has an effect by having been called: the call that it came into ends.
TEXT ·onInterrupt(SB), NOSPLIT|NOFRAME|TOPFRAME, $0-0
	RET

// func interruptEntry() (handler uintptr)
TEXT ·interruptEntry(SB), NOSPLIT, $0-8
	MOVD $·onInterrupt(SB), R0
	MOVD R0, handler+0(FP)
	RET
