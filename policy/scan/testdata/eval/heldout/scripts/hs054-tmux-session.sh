#!/bin/bash
# A session with server and tests.
S=work

if tmux has-session -t "$S" 2>/dev/null; then
  echo "already running"
  exit 0
fi

tmux new-session -d -s "$S"
tmux send-keys -t "$S" 'npm start' Enter
sleep 1
tmux capture-pane -p -t "$S" | tail -5

echo "attach with: tmux attach -t $S"
