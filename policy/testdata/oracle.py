#!/usr/bin/env python3
"""An independent decision engine: what section 4 of the SkillGuard paper, the taxonomy and the rules on effect and level say.

stdin, one JSON object a line:
  {"policy":  {"permissions": [ENTRY...],          the declared pool: workspace defaults, then the loaded skills' manifests
               "tiers": {"SKILL": 1..4},           a skill that is not listed is untrusted (as 3 and 4)
               "undeclared": {"normal|dangerous|system|redact": EFFECT}},    absent: confirm
   "request": {"capability": "filesystem.read",
               "path": ABSOLUTE or relative to the workspace, "host": NAME, "variable": NAME,    at most one
               "command": TEXT, "arguments": {}},                                                 all optional
   "state":   {"workspace_root": "/w", "now": TIME, "initialized_at": TIME, "task_scope": [ENTRY...], "granted_set": [ENTRY...],
               "uses": {"CAPABILITY": [TIME...]}}}
  ENTRY {"capability": "group.name|group.*|*", "effect": EFFECT, "priority": 0, "source": "session-default|skill:NAME|user-grant|user-config", "granted_at": TIME, "expires_at": TIME,
         "constraints": {"workspace_only": bool, "denied_command_patterns": [REGEX],
         "arguments": {"KEY": VALUE or [VALUE...], "names": [VARIABLE...]}, "resource_scope": [PREFIX, HOST or VARIABLE],
         "time_window": {"start": "HH:MM", "end": "HH:MM", "days": ["mon"...]}, "rate_limit": {"max": N, "per_seconds": S}}}
  EFFECT allow|confirm|deny; TIME "2026-01-31T12:00:00.000000Z"
stdout, one object a line, flushed at the end: {"decision": EFFECT, "entry": "permissions[2]"|"task_scope[0]"|"granted_set[1]"|null}
  null: the level decided. A line that cannot be read gives {"decision": "deny", "entry": null, "error": TEXT}.

Choices where the texts leave one. "Mended": first read otherwise; docs/sessions.md settles it:
 1 Inside one source the priority decides, then the stricter. Between sources a deny wins, then the priority (an untrusted skill's counts as 0 at most), then the stricter, then the first. Mended, was: deny first whatever the priorities. A priority is "conflict-resolution" between one author's entries; that deny wins is said of Profiles, where exceptions are fields.
 2 Nothing declared, or no constraint met (4.2 asks, 4.4 blocks): "undeclared" by the level of what is asked, confirm where absent, also for normal.
 3 A denied command pattern that matches denies at once (4.5), whatever the entry's effect, priority and other constraints. Other constraints unmet: the entry is not there.
 4 A constraint that cannot be judged (unknown key, no path to compare, bad time or regex) is unmet for allow and confirm, met for deny.
 5 An allow by an untrusted manifest (source "skill:X", tier 3, 4 or none) on anything but a normal capability is a confirm: redact too, though 3.11 names only dangerous and system. Entries of other sources are the user's.
 6 Grants turn confirm, and deny by level, into allow; never a deny written in an entry. They also answer for what the task scope took away.
 7 A grant of a system capability counts only if granted_at >= initialized_at, or its source is user-config. A grant without effect is an allow; with another effect it is none.
 8 Empty task_scope: no narrowing. Otherwise the stricter of pool and task scope; no entry of the task scope that fits: the stricter of pool and "undeclared".
 9 Missing workspace_only is true for source_code.read/write/delete; filesystem.write/delete and source_code.execute are bound to the workspace unless they have a resource_scope (mended: "anywhere" would be the system's own files); neither on a deny. It asks for a path in filesystem, source_code and commit (mended: commit too, it lies in a repository), and is vacuous where other capabilities name none.
10 resource_scope [] names nothing (mended, was: as absent. Zero values deny). secrets.* without one is unmet, but a deny covers all. "*.a" covers names beneath a only. Paths go by whole components, cleaned; "~" is a name.
11 Time windows are in UTC, start included, end not, start > end goes over midnight (days are those of "now"); start == end is never. A rate limit counts uses in (now - S, now].
12 source_code.read with workspace_only false is for any file: dangerous, as filesystem.read is. So are shell_profile.read and scheduled_job.read, of files that are denied to everything else: those who have tokens there are asked. Mended, was: normal.
13 An unknown capability is denied. Hook-only names without a level are system. Expired means expires_at <= now, for denials too.
"""
import json, posixpath, re, sys
from datetime import datetime, timedelta

LEVELS = {
    "normal": "source_code.read commit.read web.fetch container.query process.query repl.read shell_profile.read env_var.read scheduled_job.read",
    "dangerous": "filesystem.read filesystem.write filesystem.delete source_code.execute source_code.write source_code.delete commit.create web.post web.interact "
                 "container.run process.create process.kill repl.create repl.execute repl.reset repl.terminate screen.capture env_var.write scheduled_job.create "
                 "scheduled_job.delete secrets.write secrets.delete context.load shell.execute network.client",
    "system": "commit.push external_api.call container.manage camera.capture microphone.record screen.interact input_devices.access shell_profile.write package.install "
              "tool.invoke tool.read tool.skill mcp.execute subagent.delegate policy.expand policy.restrict policy.install_hook agent_memory.read agent_memory.write "
              "network_policy.modify",
    "redact": "secrets.read"}
LEVEL = {name: level for level, names in LEVELS.items() for name in names.split()}
STRICT, DAYS = {"allow": 0, "confirm": 1, "deny": 2}, "mon tue wed thu fri sat sun".split()
when = lambda text: datetime.fromisoformat(text[:-1])
def clean(path, root):
    return posixpath.normpath(path if path.startswith(("/", "~")) else posixpath.join(root, path))
def beneath(path, top):
    return path == top or path.startswith(top.rstrip("/") + "/")
def in_scope(item, req, root):
    if "path" in req:
        return beneath(clean(req["path"], root), clean(item, root))
    if "host" in req:
        host, item = req["host"].lower().rstrip("."), item.lower().rstrip(".")
        return item == "*" or host == item or item.startswith("*.") and host.endswith(item[1:]) and len(host) > len(item) - 1
    return req["variable"] == item or item.endswith("*") and req["variable"].startswith(item[:-1])
def met(key, value, req, state):
    """True, False, or None where it cannot be judged."""
    try:
        return judge(key, value, req, state)
    except (ValueError, TypeError, KeyError, AttributeError, AssertionError):
        return None
def judge(key, value, req, state):
    root, now = state["workspace_root"], state["now"]
    if key == "workspace_only" and not value or key == "denied_command_patterns":
        return True  # patterns are judged by violates
    if key == "workspace_only":
        if "path" in req:
            return beneath(clean(req["path"], root), clean(root, root))
        return None if req["capability"].split(".")[0] in ("filesystem", "source_code", "commit") else True
    if key == "resource_scope":
        return any(in_scope(i, req, root) for i in value) if {"path", "host", "variable"} & req.keys() else None
    if key == "arguments":
        have = req.get("arguments", {})
        return all(req.get("variable") in v if k == "names" else True if k == "modes" else
                   k in have and (have[k] in v if isinstance(v, list) else have[k] == v) for k, v in value.items())
    if key == "time_window" and not value.keys() - {"start", "end", "days"}:
        at, start, end = now[11:16], value.get("start", "00:00"), value.get("end", "24:00")
        assert all(re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d|24:00", t) for t in (start, end))
        inside = start <= at < end if start <= end else at >= start or at < end
        return inside and ("days" not in value or DAYS[when(now).weekday()] in value["days"])
    if key == "rate_limit" and value.keys() == {"max", "per_seconds"}:
        since, until = when(now) - timedelta(seconds=value["per_seconds"]), when(now)
        return sum(since < when(t) <= until for t in state.get("uses", {}).get(req["capability"], [])) < value["max"]
    return None
def violates(entry, req):
    try:
        return any(re.search(p, req["command"]) for p in entry.get("constraints", {}).get("denied_command_patterns", []) if "command" in req)
    except re.error:
        return True

def fits(entry, effect, req, state):
    have = dict(entry.get("constraints", {}))
    if effect != "deny":
        if req["capability"] in ("source_code.read", "source_code.write", "source_code.delete"):
            have.setdefault("workspace_only", True)
        if req["capability"] in ("filesystem.write", "filesystem.delete", "source_code.execute") and "resource_scope" not in have:
            have["workspace_only"] = True
        if req["capability"].startswith("secrets.") and not have.get("resource_scope"):
            return False
    results = [met(key, value, req, state) for key, value in have.items()]
    return False not in results and (effect == "deny" or None not in results)
def live(entry, req, state):
    cap, want = entry["capability"], req["capability"]
    return cap in ("*", want, want.split(".")[0] + ".*") and (not entry.get("expires_at") or entry["expires_at"] > state["now"])
def level_of(entry, cap):
    outside = cap == "source_code.read" and entry.get("constraints", {}).get("workspace_only") is False
    return "dangerous" if outside or cap in ("shell_profile.read", "scheduled_job.read") else LEVEL[cap]
def choose(entries, label, req, state, tiers):
    """The winner of one list, (effect, reference) or None."""
    winners = {}
    for i, e in enumerate(entries):
        if not live(e, req, state):
            continue
        level = level_of(e, req["capability"])
        effect, source = e.get("effect") or ("allow" if level == "normal" else "confirm"), e.get("source", "")
        untrusted, hit = source.startswith("skill:") and tiers.get(source[6:], 4) > 2, violates(e, req)
        effect = "confirm" if untrusted and effect == "allow" and level != "normal" else effect
        if not hit and not fits(e, effect, req, state):
            continue
        effect, priority = "deny" if hit else effect, e.get("priority", 0)
        mine = (hit, priority, STRICT[effect], -i), (hit, effect == "deny", min(priority, 0) if untrusted else priority, STRICT[effect], -i), effect
        winners[source] = max(mine, winners.get(source, mine))
    best = max((w[1:] for w in winners.values()), default=None)
    return best and (best[1], "%s[%d]" % (label, -best[0][4]))
def decide(policy, req, state):
    level, tiers = LEVEL.get(req["capability"]), policy.get("tiers", {})
    if level is None:
        return "deny", None
    bylevel = (policy.get("undeclared", {}).get(level, "confirm"), None)
    answers = [choose(policy["permissions"], "permissions", req, state, tiers) or bylevel]
    if state.get("task_scope"):
        answers.append(choose(state["task_scope"], "task_scope", req, state, tiers) or bylevel)
    effect, ref = max(answers, key=lambda a: (STRICT[a[0]], a[1] is not None))
    for i, g in enumerate([] if effect == "allow" or effect == "deny" and ref else state.get("granted_set", [])):
        lasting = level != "system" or g.get("source") == "user-config" or g.get("granted_at", "") >= state["initialized_at"]
        if lasting and g.get("effect", "allow") == "allow" and live(g, req, state) and not violates(g, req) and fits(g, "allow", req, state):
            return "allow", "granted_set[%d]" % i
    return effect, ref

if __name__ == "__main__":
    for line in sys.stdin:
        try:
            case = json.loads(line)
            out = dict(zip(("decision", "entry"), decide(case["policy"], case["request"], case["state"])))
        except Exception as err:
            out = {"decision": "deny", "entry": None, "error": str(err)}
        sys.stdout.write(json.dumps(out) + "\n")
