package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// settled is how long a command has run when its memory is looked at: longer than
// skillrun waits before it gives back what only starting needed.
const settled = 300 * time.Millisecond

// memory prints the proportional set size of everything that skillrun adds to
// a command, while one runs: launcher and guardian, not the command itself.
func (w *world) memory() error {
	fmt.Println("\nmemory beside the command, MiB of PSS")
	for _, namespaces := range []string{"off", "on"} {
		kib, err := w.beside(namespaces)
		if err != nil {
			return err
		}
		fmt.Printf("namespaces %s: %.1f\n", namespaces, float64(kib)/1024)
	}
	return nil
}

func (w *world) beside(namespaces string) (kib int, err error) {
	cmd := exec.Command(w.skillrun, "--skill", filepath.Join(w.dir, "skill"), "--approve", "declared", "--namespaces", namespaces, "--", "/bin/cat")
	cmd.Dir, cmd.Env, cmd.Stderr = filepath.Join(w.dir, "work"), w.env, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	defer cmd.Wait()
	defer in.Close()
	// What comes back shows that the command runs.
	if _, err := fmt.Fprintln(in, "up"); err != nil {
		return 0, err
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return 0, err
	}
	time.Sleep(settled)
	return tree(cmd.Process.Pid, "cat")
}

// tree adds up a process and its descendants, without the command and what it
// started.
func tree(pid int, command string) (kib int, err error) {
	dir := "/proc/" + strconv.Itoa(pid)
	name, err := os.ReadFile(dir + "/comm")
	if err != nil || strings.TrimSpace(string(name)) == command {
		return 0, err
	}
	rollup, err := os.ReadFile(dir + "/smaps_rollup")
	if err != nil {
		return 0, fmt.Errorf("%w (the guardian shows itself to root only)", err)
	}
	for line := range strings.Lines(string(rollup)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "Pss:" {
			kib, _ = strconv.Atoi(f[1])
		}
	}
	lists, err := filepath.Glob(dir + "/task/*/children")
	if err != nil {
		return 0, err
	}
	for _, list := range lists {
		b, err := os.ReadFile(list)
		if err != nil {
			return 0, err
		}
		for _, f := range strings.Fields(string(b)) {
			child, err := strconv.Atoi(f)
			if err != nil {
				return 0, err
			}
			more, err := tree(child, command)
			if err != nil {
				return 0, err
			}
			kib += more
		}
	}
	return kib, nil
}
