# SPDX-License-Identifier: MIT
# Holds documents (a folder of at least so many JSON files) against their schema with python3-jsonschema, an independent
# validator, and sees that each object of a document is refused with a key more or a key less.
import copy
import json
import pathlib
import sys

import jsonschema


def objects_with_fixed_keys(value, path=()):
    """The ways to the objects of a document, but for the settings of a policy, whose keys are free."""
    if isinstance(value, dict):
        if not path or path[-1] != "settings":
            yield path
        for key, inner in value.items():
            yield from objects_with_fixed_keys(inner, path + (key,))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from objects_with_fixed_keys(inner, path + (index,))


def at(value, path):
    for step in path:
        value = value[step]
    return value


def main():
    schema = json.loads(pathlib.Path(sys.argv[1]).read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    files = sorted(pathlib.Path(sys.argv[2]).glob("*.json"))
    assert len(files) >= int(sys.argv[3]), f"only {len(files)} documents"
    for file in files:
        for problem in validator.iter_errors(json.loads(file.read_text())):
            sys.exit(f"{file.name}: {problem.json_path}: {problem.message}")
    seen = set()
    refused = 0
    for file in files:
        document = json.loads(file.read_text())
        for path in objects_with_fixed_keys(document):
            kind = tuple(step for step in path if isinstance(step, str))[-3:]
            if kind in seen:
                continue
            seen.add(kind)
            for key in [*at(document, path), None]:
                broken = copy.deepcopy(document)
                if key is None:
                    at(broken, path)["unknown"] = 1
                else:
                    del at(broken, path)[key]
                assert not validator.is_valid(broken), f"{file.name}: {path} without {key} is accepted"
                refused += 1
    print(f"{len(files)} documents are valid, {refused} broken ones are refused")


main()
