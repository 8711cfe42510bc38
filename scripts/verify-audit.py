#!/usr/bin/env python3
"""Check a skillrun audit log without skillrun: verify-audit.py DIRECTORY

The format is in docs/audit.md. Exit status 0: whole; 1: broken; 2: usage.
"""
import hashlib, json, os, re, stat, sys


def read(directory, name):
    """A FIFO would never end, and a link leads to what somebody else writes."""
    with open(os.path.join(directory, name), "rb", opener=lambda path, flags: os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)) as f:
        if not stat.S_ISREG(os.fstat(f.fileno()).st_mode):
            raise OSError(f"{name}: is not a regular file")
        return f.read()


def check(directory):
    names = sorted(n for n in os.listdir(directory) if n.startswith("audit-") and n.endswith(".jsonl"))
    number, prev, torn = 0, "0" * 64, None
    for name in names:
        if torn:
            return f"{torn[0]}:{torn[1]}: is no record, and none accounts for it"
        first = re.fullmatch(r"audit-(0[0-9]{11}|[1-9][0-9]{11,18})\.jsonl", name)
        if not first:
            return f"{name!a}: is not a name that a log file has"
        data, start = read(directory, name), 0
        for at, line in enumerate(re.findall(rb"[^\n]*\n|[^\n]+", data), 1):
            body, _, tail = line.rpartition(b',"hash":"')
            if hashlib.sha256(body).hexdigest().encode() + b'"}\n' != tail:
                torn = torn or (name, at, start)
            else:
                record = json.loads(line)
                if (record["seq"], record["prev"]) != (number + 1, prev):
                    return f"{name}:{at}: record {record['seq']} does not follow record {number}"
                if start == 0 and record["seq"] != int(first[1]):
                    return f"{name}:{at}: record {record['seq']} begins the file, but its name says {int(first[1])}"
                if torn and (record["kind"], record.get("sha256")) != ("log.repair", hashlib.sha256(data[torn[2]:start - 1]).hexdigest()):
                    return f"{torn[0]}:{torn[1]}: is no record, and none accounts for it"
                number, prev, torn = record["seq"], record["hash"], None
            start += len(line)
    head = re.fullmatch(rb"(skillrun-audit 1 (\d{20}) (\d{20}) (\d{20}) ([0-9a-f]{64})) ([0-9a-f]{16})\n", read(directory, "audit.head"))
    if not head or hashlib.sha256(head[1]).hexdigest()[:16] != head[6].decode():
        return "audit.head: is damaged: whether the end of the log was cut cannot be told"
    last, first, size = (int(head[i]) for i in (2, 3, 4))
    if last > number or last == number and head[5].decode() != prev:
        return f"audit.head: the log ends with record {number}, it should with {last}"
    # What lies behind the head's end is what a killed writer left, and the next
    # one will account for.
    current, begun = (f"audit-{n:012d}.jsonl" for n in (first, number + 1))
    if torn and not (torn[0] == current and torn[2] >= size or torn[0] > current and (torn[2] > 0 or torn[0] == begun)):
        return f"{torn[0]}:{torn[1]}: is no record, and none accounts for it"
    print(f"{number} records, the last is {prev}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    try:
        problem = check(sys.argv[1])
    except OSError as e:
        problem = e
    if problem:
        print(problem)
        sys.exit(1)
