#!/usr/bin/env bash
# Writes a Markdown summary of the git repository around the current directory.
set -euo pipefail

output=repo-stats.md top=10 since=
while [ $# -gt 0 ]; do
	case $1 in
	-o) output=$2; shift 2 ;;
	--top) top=$2; shift 2 ;;
	--since) since=$2; shift 2 ;;
	*) echo "usage: stats.sh [-o FILE] [--top N] [--since DATE]" >&2; exit 2 ;;
	esac
done
range=(${since:+"--since=$since"})
git rev-parse --git-dir >/dev/null || { echo "stats.sh: not in a git repository" >&2; exit 1; }

log() { git --no-pager log --no-merges ${range[@]+"${range[@]}"} "$@"; }
# Lines of stdin with how often each occurs, as a table, the most frequent first.
ranking() { sort | uniq -c | sort -k1,1nr -k2 | awk -v n="$top" 'NR <= n { c = $1; sub(/^ *[0-9]+ /, ""); print "| " $0 " | " c " |" }'; }

{
	echo "# $(basename "$(git rev-parse --show-toplevel)")"
	echo
	echo "$(log --oneline | wc -l | tr -d ' ') commits on $(git symbolic-ref --short -q HEAD || git rev-parse --short HEAD), $(log --format=%as | tail -n 1) to $(log --format=%as | sed -n 1p)."
	printf '\n## Authors\n\n| author | commits |\n|---|---|\n'
	log --format=%an | ranking
	printf '\n## Months\n\n| month | commits |\n|---|---|\n'
	log --format=%as | cut -c1-7 | ranking
	printf '\n## Most changed files\n\n| file | commits |\n|---|---|\n'
	log --format= --name-only | sed '/^$/d' | ranking
	printf '\n## Kinds of files\n\n| extension | files | lines |\n|---|---|---|\n'
	git ls-files -z | while IFS= read -r -d '' file; do
		[ -f "$file" ] || continue
		name=${file##*/} kind=none
		case $name in ?*.*) kind=${name##*.} ;; esac
		printf '%s %s\n' "$kind" "$(wc -l <"$file")"
	done | awk -v n="$top" '{ f[$1]++; l[$1] += $2 } END { for (k in f) print l[k], "| " k " | " f[k] " | " l[k] " |" }' | sort -k1,1nr | cut -d' ' -f2- | sed -n "1,${top}p"
} >"$output"
echo "$output: $(wc -l <"$output" | tr -d ' ') lines"
