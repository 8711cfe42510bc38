#: gcc needs=gcc plain
printf '#include <stdio.h>\nint main(void) { puts("compiled"); return 0; }\n' > m.c; gcc -O1 -o m m.c && ./m
#: gcc, threads and a library needs=gcc plain
echo 'int f(void) { return 42; }' > f.c; gcc -shared -fPIC -o libf.so f.c; printf '#include <pthread.h>\n#include <stdio.h>\nint f(void); void *g(void *x) { printf("%%d\\n", f()); return x; }\nint main(void) { pthread_t t; pthread_create(&t, 0, g, 0); return pthread_join(t, 0); }\n' > m.c; gcc -o m m.c -L. -lf -Wl,-rpath,"$PWD" -pthread && ./m
#: gcc with sanitizers needs=gcc plain
printf '#include <stdlib.h>\nint main(int n, char **v) { char *p = malloc(4); char c = p[n > 1 ? 9 : 0] = 0; free(p); return c; }\n' > m.c; gcc -g -fsanitize=address,undefined -o m m.c; ./m && echo clean; ./m x 2>&1 | grep -c 'ERROR: AddressSanitizer: heap-buffer-overflow'; gcc -fsanitize=thread -o t m.c; ./t && echo threads
#: make needs=gcc plain
printf 'all: a b\n\t@cat a b\na b:\n\t@echo $@ > $@\nclean:\n\t@rm -f a b\n' > Makefile; make -j2 -s; make -s clean; ls; printf 'm: m.o\nm.o: m.c\n' > Makefile; echo 'int main(void) { return 0; }' > m.c; make -s m && ./m && echo made
#: cmake needs=cmake plain
printf 'cmake_minimum_required(VERSION 3.10)\nproject(x C)\nadd_executable(x x.c)\n' > CMakeLists.txt; echo 'int main(void) { return 0; }' > x.c; cmake -S . -B b > /dev/null && cmake --build b > /dev/null && b/x && echo built
#: configure scripts needs=gcc plain
printf '#!/bin/sh\ncat > conftest.c <<X\nint main(void) { return 0; }\nX\ncc -o conftest conftest.c && ./conftest && echo "checking whether the C compiler works... yes"\nrm -f conftest*\n' > configure; chmod +x configure; ./configure; ls
#: go build and test needs=go plain
printf 'module example.test/x\n\ngo 1.21\n' > go.mod; printf 'package main\n\nfunc main() { println(f()) }\nfunc f() int { return 42 }\n' > m.go; printf 'package main\n\nimport "testing"\n\nfunc TestF(t *testing.T) { if f() != 42 { t.Fatal() } }\n' > m_test.go; go build -o x . && ./x; go test . | cut -f 1; gofmt -l .
#: strace of nothing needs=strace plain
strace -V | head -1 | cut -d' ' -f1
