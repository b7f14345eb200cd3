# SPDX-License-Identifier: Apache-2.0
"""The files of bench/real: one JSON a result, whole or not there."""
import glob
import json
import os


def write(path, value):
    """The old file or the new one, whatever happens in between."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    part = path + ".part"
    with open(part, "w", encoding="utf-8") as file:
        json.dump(value, file, indent=1)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    os.rename(part, path)


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def plan_file(folder):
    return os.path.join(folder, "plan.json")


def result_file(folder, step):
    return os.path.join(folder, "runs", step + ".json")


def results(folder):
    """All there are, by the step's id."""
    found = (read(path) for path in sorted(glob.glob(os.path.join(folder, "runs", "*.json"))))
    return {result["id"]: result for result in found}


def save(folder, result):
    """A step done once more replaces what was there, with one attempt more."""
    path = result_file(folder, result["id"])
    before = read(path).get("attempt", 1) if os.path.exists(path) else 0
    write(path, {**result, "attempt": before + 1})
