#!/usr/bin/env python3
"""Uses a native call for speed."""
import ctypes
import sys

libc = ctypes.CDLL(None)
values = [int(word) for word in sys.stdin.read().split()]
array = (ctypes.c_int * len(values))(*values)


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
def compare(a, b):
    return a[0] - b[0]


libc.qsort(array, len(values), ctypes.sizeof(ctypes.c_int), compare)
print(*array)
