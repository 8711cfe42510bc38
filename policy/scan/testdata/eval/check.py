#!/usr/bin/env python3
"""Holds the labels to README.md: form, names, special paths, variables, and words that imply a capability. Runs nothing of what it reads.

Prints one line per finding; exits 1 if there is any. With --stats prints how often each capability is labelled.
"""
import ast, collections, fnmatch, json, pathlib, posixpath, re, subprocess, sys

HERE = pathlib.Path(__file__).parent
CAPS = set("""filesystem.read filesystem.write filesystem.delete source_code.execute commit.read commit.create commit.push web.fetch web.post web.interact
external_api.call container.query container.run container.manage process.query process.create process.kill repl.create repl.execute repl.read repl.reset repl.terminate
camera.capture microphone.record screen.capture screen.interact input_devices.access shell_profile.read shell_profile.write env_var.read env_var.write scheduled_job.read
scheduled_job.create scheduled_job.delete package.install secrets.read secrets.write secrets.delete subagent.delegate tool.invoke policy.expand policy.install_hook
shell.execute network.client""".split())
SECRET_DIRS = "~/.ssh ~/.aws ~/.gnupg ~/.azure ~/.kube ~/.config/gcloud ~/.config/gh ~/.docker".split()
SECRET_FILES = "~/.npmrc ~/.pypirc ~/.netrc ~/.git-credentials ~/.vault-token /etc/shadow".split()
SECRET_NAMES = """.env .env.* *.pem *.key *.p12 *.pfx id_rsa id_ed25519 credentials.json token.json service-account*.json secrets.json secrets.yaml secrets.yml
secrets.toml""".split()
BROWSERS = ("~/.mozilla/", "~/.config/google-chrome/", "~/.config/chromium/", "~/Library/Application Support/Google/Chrome/")
PROFILES = """~/.bashrc ~/.bash_profile ~/.bash_login ~/.bash_aliases ~/.profile ~/.zshrc ~/.zprofile ~/.zshenv ~/.config/fish/config.fish /etc/profile
/etc/bash.bashrc""".split()
SECRET_VAR = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|API_?KEY|ACCESS_KEY|PRIVATE_KEY|_KEY$|_PASS$|_PAT$|(?<!OLD)_PWD$")
PLAIN_VAR = set("HOME PWD OLDPWD USER LOGNAME PATH SHELL TMPDIR UID EUID PPID IFS RANDOM SECONDS LINENO HOSTNAME LANG TERM BASH_SOURCE BASH_VERSION".split())
# A word that must not appear without one of the capabilities (or an opaque need, or a note that explains).
IMPLIES = [
    (r"(^|[;&|(] *)(sudo )?curl |(^|[;&|(] *)wget |requests\.get\(|urlopen\(|\bfetch\(|axios\.", "web. container.query"),
    (r"(^|[;&|(] *)(sudo )?rm |os\.remove\(|\.unlink\(|rmtree\(|unlinkSync\(|rmSync\(", "filesystem.delete secrets.delete shell_profile.write commit.create"),
    (r"git push|'push'|\"push\"", "commit.push"), (r"git commit", "commit.create"), (r"\bpip3? install|(?<!:20 )npm (ci|install|i)\b|apt(-get)? install|brew install", "package.install"),
    (r"\bssh [a-z]|\bscp ", "network.client"), (r"subprocess\.|child_process|os\.system\(|execSync|spawn\(", "process.create"),
    (r"\bdocker (ps|logs|images)", "container.query"), (r"\bdocker (run|build|exec)", "container.run"), (r"\bcrontab", "scheduled_job."), (r"\bpkill|\bkillall", "process.kill"),
    (r"\beval +\"?\$|\| *(sudo )?(ba|z)?sh\b|pickle\.loads|new Function|vm\.run|marshal\.loads", "shell.execute"), (r"(^|[;&|] *)mkdir |makedirs\(|mkdirSync\(", "filesystem.write"),
]


def secret(path):
    base = posixpath.basename(path)
    if base.endswith((".example", ".sample", ".template")):
        return False
    return (any(path == d or path.startswith(d + "/") for d in SECRET_DIRS) or path in SECRET_FILES or path.startswith(BROWSERS)
            or any(fnmatch.fnmatchcase(base, n) for n in SECRET_NAMES))


def profile(path):
    return path in PROFILES or path.startswith("/etc/profile.d/")


def check(row, text, script):
    needs, may = row["needs"], row["may"]
    for n in needs + may:
        cap, target, exact = n["cap"], n["target"], n["exact"]
        if cap not in CAPS:
            yield "unknown capability " + cap
        if set(n) - {"cap", "target", "exact", "opaque"} or (cap == "shell.execute") != bool(n.get("opaque")):
            yield "opaque is for shell.execute: %s" % n
        if n.get("opaque") and (target or exact):
            yield "an opaque need has no target"
        group = cap.split(".")[0]
        if group in ("filesystem", "secrets", "shell_profile", "source_code") and not target.startswith("$") and target:
            if target != posixpath.normpath(target) or target.startswith("/root") or "$HOME" in target:
                yield "path not clean: " + target
            if group == "filesystem" and secret(target):
                yield "a secret: %s %s" % (cap, target)
            if group == "filesystem" and profile(target):
                yield "a shell profile: %s %s" % (cap, target)
            if group == "secrets" and exact and not secret(target):
                yield "not a secret path: " + target
            if group == "shell_profile" and not profile(target):
                yield "not a shell profile: " + target
        if group in ("filesystem", "source_code", "web", "network", "shell_profile", "external_api") and exact and not target:
            yield "exact without target: " + cap
        if group in ("filesystem", "source_code") and exact and "$" in target:
            yield "exact with a variable: " + target
        if group in ("web", "network") and exact and not re.fullmatch(r"[a-z0-9.-]+", target):
            yield "not a host: " + target
        if group in ("env_var", "secrets") and target.startswith("$"):
            name = target[1:]
            if bool(SECRET_VAR.search(name)) != (group == "secrets") or name in PLAIN_VAR:
                yield "wrong capability for variable: %s %s" % (cap, target)
    keys = [(n["cap"], n["target"]) for n in needs]
    if len(set(keys)) != len(keys):
        yield "a need twice"
    if [m for m in may if m in needs]:
        yield "both needed and optional"
    if row.get("obfuscated") and not needs:
        yield "obfuscated needs nothing"
    caps = {n["cap"] for n in needs}
    if "process.create" in caps and not script and not re.search(r"systemctl|python|node", text):
        yield "process.create in shell text"
    if "note" not in row and not row.get("obfuscated") and "shell.execute" not in caps:
        for pattern, want in IMPLIES:
            if re.search(pattern, text, re.M) and not any(c.startswith(w) for c in caps | {m["cap"] for m in may} for w in want.split()):
                yield "%r without %s" % (re.search(pattern, text, re.M)[0], want)
    given = {n["target"][1:] for n in needs + may if n["cap"] in ("env_var.read", "secrets.read", "env_var.write") and n["target"].startswith("$")}
    for name in given:
        if name not in text:
            yield "variable not in the text: " + name


def parses(path, lang):
    if lang == "python":
        try:
            ast.parse(path.read_text())
            return True
        except SyntaxError:
            return False
    if path.suffix == ".ts":
        return True  # node checks no types
    return subprocess.run({"javascript": ["node", "--check", path], "shell": ["bash", "-n", path]}[lang], capture_output=True).returncode == 0


def main():
    found, seen, stats = 0, {}, collections.Counter()
    for split in ("dev", "heldout", "heldout2"):
        for kind in ("commands", "scripts"):
            for line in (HERE / split / (kind + ".jsonl")).read_text().splitlines():
                row = json.loads(line)
                text = row["cmd"] if kind == "commands" else (HERE / split / row["file"]).read_text()
                findings = list(check(row, text, kind == "scripts" and row["lang"] != "shell"))
                if text in seen or row["id"] in seen.values():
                    findings.append("same as %s" % seen.get(text, "another id"))
                seen[text] = row["id"]
                if kind == "scripts":
                    if not 15 <= text.count("\n") <= 80:
                        findings.append("%d lines" % text.count("\n"))
                    if not parses(HERE / split / row["file"], row["lang"]):
                        findings.append("does not parse")
                elif subprocess.run(["bash", "-n", "-c", text], capture_output=True).returncode:
                    findings.append("does not parse")
                for f in findings:
                    print("%s %s: %s" % (split, row["id"], f))
                found += len(findings)
                stats.update(n["cap"] + (" (opaque)" if n.get("opaque") else "") for n in row["needs"])
                stats.update(["%s %s" % (split, kind)])
    if "--stats" in sys.argv:
        for name, count in sorted(stats.items()):
            print("%5d %s" % (count, name))
    return found > 0


if __name__ == "__main__":
    sys.exit(main())
