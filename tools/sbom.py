"""A software bill of materials in CycloneDX 1.6 of what is installed here, made without asking anybody.

    python tools/sbom.py 'cli,owner,market' > sbom.cdx.json

The same environment gives the same bytes: there is no time and no random number in it.
"""

from __future__ import annotations

import json
import sys
from importlib import metadata

from hashed_lock import needed


def component(name: str) -> dict[str, object]:
    """One installed project."""
    found = metadata.metadata(name)
    version = metadata.version(name)
    said = found.get("License-Expression") or found.get("License") or "not said"
    named = (
        {"expression": said} if found.get("License-Expression") else {"license": {"name": said.splitlines()[0][:200]}}
    )
    purl = f"pkg:pypi/{name}@{version}"
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl, "licenses": [named]}


def bill(project: str, extras: frozenset[str]) -> dict[str, object]:
    """The bill of a project with these extras."""
    version = metadata.version(project)
    root = f"pkg:pypi/{project}@{version}"
    parts = [component(name) for name in needed(project, extras)]
    about = {"type": "application", "bom-ref": root, "name": project, "version": version, "purl": root}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": about},
        "components": parts,
        "dependencies": [{"ref": root, "dependsOn": [part["bom-ref"] for part in parts]}],
    }


if __name__ == "__main__":
    json.dump(bill("pdqs", frozenset(sys.argv[1].split(","))), sys.stdout, indent=2)
    print()
