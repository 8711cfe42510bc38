#include "textflag.h"

// func loadAcquire(word *uint32) uint32
TEXT ·loadAcquire(SB), NOSPLIT, $0-12
	MOVQ word+0(FP), AX
	MOVL (AX), AX
	MOVL AX, ret+8(FP)
	RET

// func storeRelease(word *uint32, value uint32)
TEXT ·storeRelease(SB), NOSPLIT, $0-12
	MOVQ  word+0(FP), AX
	MOVL  value+8(FP), BX
	XCHGL BX, (AX)
	RET
