"""For each line, a JSON string that holds a JSON text: a line with the paths of members that an object gives more than
once with different values, each with whether the last of the values is a list or an object. Judge of
test/conformance/repeated-members.test.ts."""
import json
import sys


class Pairs(list):
    """The members of an object, in their order."""


def plain(value):
    if isinstance(value, Pairs):
        return {name: plain(each) for name, each in value}
    return [plain(each) for each in value] if isinstance(value, list) else value


def is_same(one, other):
    # true is 1 in Python.
    return json.dumps(shape(one), sort_keys=True) == json.dumps(shape(other), sort_keys=True)


def shape(value):
    value = plain(value)
    if isinstance(value, dict):
        return {name: shape(each) for name, each in value.items()}
    if isinstance(value, list):
        return [shape(each) for each in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def walk(value, path, found):
    if not isinstance(value, list):
        return
    if not isinstance(value, Pairs):
        for each in value:
            walk(each, path, found)
        return
    before = {}
    for name, each in value:
        here = [*path, name]
        if name in before and not is_same(before[name], each):
            found.append([here, isinstance(each, list)])
        before[name] = each
        walk(each, here, found)


for line in sys.stdin:
    found = []
    walk(json.loads(json.loads(line), object_pairs_hook=Pairs), [], found)
    print(json.dumps(found))
