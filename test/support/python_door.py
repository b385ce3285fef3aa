"""Questions for the package hexcodes, each a line of JSON, and so is its answer: the door of test/conformance/doors-elsewhere.test.ts."""

import base64
import json
import sys

import hexcodes

STATUSES = {"OUTSIDE_COVERAGE": "NOT_FOUND", "NOT_A_COORDINATE": "INVALID_REQUEST"}


def column(kind, values):
    if kind == "NumPy":
        import numpy

        return numpy.array(values)
    if kind == "pandas":
        import pandas

        return pandas.Series(values)
    if kind == "Polars":
        import polars

        return polars.Series(values)
    if kind == "Arrow":
        import pyarrow

        return pyarrow.array(values)
    return values


def single(position, resolution):
    try:
        return {"code": hexcodes.encode(position["lat"], position["lng"], resolution), "status": "OK"}
    except hexcodes.HexcodesError as error:
        return {"code": None, "status": STATUSES[error.code]}


def rows(answer, missing):
    values = answer.to_pylist() if hasattr(answer, "to_pylist") else list(answer)
    return [None if each is None or str(each) in missing or each != each else each for each in values]


for line in sys.stdin:
    question = json.loads(line)
    kind = question["kind"]
    if question["ask"] == "refusal":
        try:
            hexcodes.Hexcodes(*(base64.b64decode(question["files"][name]) for name in ("kernel", "index", "reach")))
            answer = None
        except hexcodes.HexcodesError as error:
            answer = str(error)
    elif question["ask"] == "encode":
        if kind == "single":
            answer = [single(each, question["resolution"]) for each in question["positions"]]
        else:
            lat, lng = (column(kind, [float(each[name]) for each in question["positions"]]) for name in ("lat", "lng"))
            answer = [{"code": each} for each in rows(hexcodes.encode(lat, lng, question["resolution"]), ("", "<NA>"))]
    elif kind in ("single", "list"):
        found = [hexcodes.decode(text) for text in question["texts"]] if kind == "single" else hexcodes.decode(question["texts"])
        answer = [each and each[:3] for each in found]
    else:
        found = hexcodes.decode(column(kind, question["texts"]))
        parts = found[:3] if kind == "NumPy" else [found[name] for name in ("lat", "lng", "resolution")]
        lat, lng, resolution = (rows(part, ("nan", "<NA>")) for part in parts)
        answer = [None if row[0] is None else [float(row[0]), float(row[1]), int(row[2])] for row in zip(lat, lng, resolution)]
    print(json.dumps(answer), flush=True)
