package main

import (
	"io"
	"time"

	"skillrun/policy/hook"
)

// Serve answers one event of Claude Code that comes from in.
func Serve(in io.Reader, deadline time.Duration) hook.Reply {
	return serve(hook.Find("claude-code"), in, deadline)
}
