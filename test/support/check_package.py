"""Compares the package hexcodes with answers of the library in a folder, for test/conformance/python-package.test.ts: what differs leaves as
JSON on standard output."""

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa

import hexcodes

folder = Path(sys.argv[1])
RESOLUTIONS = json.loads(sys.argv[2])
points = np.fromfile(folder / "points", np.float64)
lat, lng = points[0::2], points[1::2]
faults = []


def texts_of(records):
    return np.ascontiguousarray(records.reshape(-1, 20)[:, :18]).view("S18").ravel().astype("U18")


def expect(name, mine, wanted):
    if not np.array_equal(mine, wanted, equal_nan=mine.dtype.kind == "f"):
        faults.append([name, int((mine != wanted).sum())])


for resolution in RESOLUTIONS:
    records = np.fromfile(folder / f"records-{resolution}", np.uint8)
    wanted = texts_of(records)
    codes = hexcodes.encode(lat, lng, resolution)
    expect(f"codes {resolution}", codes, wanted)
    arrow = hexcodes.encode(pa.array(lat), pa.array(lng), resolution)
    arrow.validate(full=True)
    expect(f"codes of Arrow {resolution}", np.asarray(arrow.fill_null("").to_pylist()), wanted)
    for name, found in (("NumPy", hexcodes.decode(codes)), ("Arrow", hexcodes.decode(arrow))):
        columns = found if name == "NumPy" else [np.asarray(found[each].fill_null(np.nan if each != "resolution" else 255)) for each in ("lat", "lng", "resolution")]
        for part, column in zip(("lat", "lng", "resolution"), columns):
            kind = np.uint8 if part == "resolution" else np.float64
            expect(f"{part} of {name} {resolution}", column, np.fromfile(folder / f"{part}-{resolution}", kind))
    wanted_cells = np.fromfile(folder / f"cells-{resolution}", np.uint64)
    admins = np.array([code[: 2 + (code[2:3] != "-")] for code in wanted.tolist()])
    whole = hexcodes.decode(codes)
    expect(f"cells of decode {resolution}", whole.cell, wanted_cells)
    expect(f"provinces of decode {resolution}", whole.admin_code, admins)
    expect(f"cells {resolution}", hexcodes.cells(lat, lng, resolution), wanted_cells)
lines = (folder / "provinces").read_text("utf8").split("\n")
expect("provinces", hexcodes.provinces(lat, lng), np.array(lines))
lines = (folder / "former").read_text("utf8").split("\n")
expect("former provinces", hexcodes.former_provinces(lat[: len(lines)], lng[: len(lines)]), np.array(lines))

metres = np.fromfile(folder / "metres", np.uint16)
inside = np.array((folder / "provinces").read_text("utf8").split("\n")) != ""
expect("metres to borders", hexcodes.borders(lat, lng).border_m, np.where(inside & (metres != 65535), metres, np.nan))
for near_lat, near_lng, wanted in json.loads((folder / "borders").read_text("utf8")):
    mine = hexcodes.borders(near_lat, near_lng)
    column = hexcodes.borders(np.array([near_lat]), np.array([near_lng]))
    if (None if mine is None else list(mine)) != wanted or (mine is not None and mine.certainty != column.certainty[0]):
        faults.append([near_lat, near_lng, mine])
for text, resolution, wanted in json.loads((folder / "families").read_text("utf8")):
    mine = [hexcodes.parent(text, resolution - 1) if resolution else None, hexcodes.children(text) if resolution < 15 else []]
    mine += [sorted(hexcodes.neighbors(text)), [list(each) for each in hexcodes.boundary(text)]]
    if mine[:3] != wanted[:3] or not np.allclose(mine[3], wanted[3], atol=1e-9):
        faults.append([text, mine])

texts = json.loads((folder / "texts").read_text("utf8"))
for (text, wanted), mine, checked in zip(texts, hexcodes.decode([text for text, _ in texts]), hexcodes.check([text for text, _ in texts])):
    read = None if mine is None else [mine.hexcodes, mine.cell, mine.lat, mine.lng, mine.resolution, mine.admin_code]
    if checked != (wanted is not None) or read != (wanted and [wanted[0], int(wanted[1]), *wanted[2:]]):
        faults.append([text, read])
for text, near, wanted in json.loads((folder / "suggestions").read_text("utf8")):
    mine = [[each.hexcodes, each.slip] for each in hexcodes.suggest(text, near)]
    if mine != wanted:
        faults.append([text, mine])
print(json.dumps({"points": len(lat), "texts": len(texts), "provinces": [list(each) for each in hexcodes.PROVINCES], "faults": faults}))
