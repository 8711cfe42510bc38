# Another process of the same user: a secret in its arguments, environment,
# memory, a mapped file, its standard input and its directory.
import ctypes, mmap, os, signal, sys
f = open(0, "rb", buffering=0)
m = mmap.mmap(0, 0, prot=mmap.PROT_READ)
secret = ctypes.create_string_buffer(os.environ["IN_MEMORY"].encode(), 64)
del os.environ["IN_MEMORY"]
print(ctypes.addressof(secret), flush=True)
while True:
    signal.pause()
