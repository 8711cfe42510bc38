#!/usr/bin/env python3
"""Make the skeleton of a skill."""
import sys
from pathlib import Path

TEMPLATE = """---
name: {name}
description: TODO
---
# {name}
"""


def init(name: str, root: Path) -> Path:
    d = root / name
    d.mkdir(parents=True)
    (d / "SKILL.md").write_text(TEMPLATE.format(name=name))
    for sub in ("scripts", "references", "assets"):
        (d / sub).mkdir()
    return d


print(init(sys.argv[1], Path(sys.argv[2])))
