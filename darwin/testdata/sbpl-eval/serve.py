"""serve.py TOOL: answers for many policies from one process of sbpl-eval.

Reads one request a line, {"macos", "source", "params", "queries"}, and writes
one answer a line, {"verdicts"} or {"error"}. What the command does for a
policy with --strict and --raw is done here by the command's own code, and a
warning is an error. oracle_test.go holds the two to the same answers.
"""
import importlib.machinery
import importlib.util
import json
import shlex
import sys
import tempfile

sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("sbpl_eval", sys.argv[1])
tool = importlib.util.module_from_spec(importlib.util.spec_from_loader("sbpl_eval", loader))
loader.exec_module(tool)


class Vocabulary(tool.Vocabulary):
    """Looks parameters up by symbol: by string it takes half a second."""

    def scheme(self, params):
        named = ["(cons (string->symbol %s) %s)" % (tool.scheme_string(k), tool.scheme_string(v))
                 for k, v in params.items()]
        return super().scheme({}) + """
(define %%named (list %s))
(define (param key) (let ((hit (assq (string->symbol key) %%named))) (and hit (cdr hit))))
""" % "\n".join(named)


class Evaluator(tool.Evaluator):
    """Asks once whether a rule applies, for all models of a query."""

    def matches(self, rule, q):
        known = q.__dict__.setdefault("known", {})
        if rule.number not in known:
            known[rule.number] = super().matches(rule, q)
        return known[rule.number]


tool.Vocabulary = Vocabulary
tool.Evaluator = Evaluator


def answer(request):
    with tempfile.NamedTemporaryFile() as policy:
        policy.write(request["source"].encode())
        policy.flush()
        profile = tool.Profile(policy.name, request["params"], tool.release(request["macos"]))
    if profile.warnings:
        return {"error": "line %d: warning: %s" % profile.warnings[0]}
    asker = tool.Asker(profile, "strict", True)
    return {"verdicts": [asker.ask(shlex.split(q, comments=True)).verdict for q in request["queries"]]}


for line in sys.stdin:
    try:
        reply = answer(json.loads(line))
    except (tool.ProfileError, ValueError) as e:
        reply = {"error": str(e)}
    print(json.dumps(reply), flush=True)
