"""Judges positions: texts by geopy, Plus Codes by openlocationcode. Reads JSON from stdin, writes JSON to stdout."""

import json
import random
import sys

from geopy.point import Point
from openlocationcode import openlocationcode as olc


def read(text):
    try:
        point = Point.from_string(text)
        return [point.latitude, point.longitude]
    except ValueError:
        return None


def plus_codes(count, seed):
    draw = random.Random(seed)
    rows = []
    for _ in range(count):
        lat, lng = draw.uniform(-90, 90), draw.uniform(-180, 180)
        if draw.random() < 0.8:
            lat, lng = draw.uniform(7.5, 24), draw.uniform(101, 115)
        code = olc.encode(lat, lng, draw.choice([2, 4, 6, 8, 10, 11, 12, 13, 14, 15]))
        area = olc.decode(code)
        row = {"full": code, "at": [area.latitudeCenter, area.longitudeCenter], "short": None}
        if "0" not in code and len(code) > 10 and abs(lat) < 80 and abs(lng) < 170:
            short = code[draw.choice([2, 4]) :]
            near = [lat + draw.uniform(-0.45, 0.45), lng + draw.uniform(-0.45, 0.45)]
            area = olc.decode(olc.recoverNearest(short, *near))
            row.update(short=short, near=near, back=[area.latitudeCenter, area.longitudeCenter])
        rows.append(row)
    return rows


task = json.load(sys.stdin)
json.dump({"read": [read(text) for text in task["texts"]], "codes": plus_codes(task["codes"], task["seed"])}, sys.stdout)
