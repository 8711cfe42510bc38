# What waits for Ctrl-C here waits in the shell itself: bash forgets a SIGINT that
# comes while it waits for a program which then ends by itself.
#: a terminal tty
test -t 0 && test -t 1 && echo terminal; stty -a > /dev/null && echo stty; tty > /dev/null && echo tty; echo x > /dev/tty
#: Ctrl-C tty
trap 'echo interrupted; exit 0' INT; echo "ASK interrupt"; for ((n = 0; n < 600; n++)); do read -rt .05 _ || :; done; echo "it did not come"; exit 1
#: Ctrl-C to a child tty
python3 -c 'import time
try:
    print("ASK interrupt", flush=True); time.sleep(50)
except KeyboardInterrupt: print("interrupted")' || echo $?
#: job control tty
set -m; sleep 100 & kill -STOP %1; wait -n 2>/dev/null || true; kill -CONT %1; kill %1; wait %1 2>/dev/null || echo $?; (sleep 1; echo fg done) & fg %% > /dev/null
#: an interactive shell tty
bash --norc -i -c 'echo interactive; sleep 1 & fg > /dev/null; echo $?' 2>/dev/null
#: window size tty
stty rows 33 cols 77; stty size; python3 -c 'import os; print(os.get_terminal_size())'
#: raw mode tty
python3 -c 'import termios, tty; o = termios.tcgetattr(0); tty.setraw(0); termios.tcsetattr(0, termios.TCSADRAIN, o); print("raw and back")'
#: curses tty
TERM=xterm python3 -c 'import curses; s = curses.initscr(); curses.endwin(); print("\nended")' | tail -1
#: reading a password tty
python3 -c 'import termios; a = termios.tcgetattr(0); a[3] &= ~termios.ECHO; termios.tcsetattr(0, 2, a); a[3] |= termios.ECHO; termios.tcsetattr(0, 2, a); print("asked")'
