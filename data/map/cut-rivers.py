# Cuts the rivers around Viet Nam out of GSHHG's binned rivers: `python3 cut-rivers.py binned_river_h.nc > rivers.json`.
# Needs h5py. The file has a bin for every few degrees, with the pieces of lines in it; pieces that meet are joined.
import json
import sys

import h5py

WEST, SOUTH, EAST, NORTH = 101.5, 8.0, 110.0, 24.0
STEPS_PER_DEGREE = 10_000
# GSHHG: 0 rivers with two banks, 1 permanent major rivers, 2 additional major rivers, 3 additional rivers, 4 minor
# rivers; 5 to 9 intermittent rivers and salt lakes; 10 to 15 canals.
MOST_LEVEL = 4

source = h5py.File(sys.argv[1], "r")
bin_deg = float(source["Bin_size_in_minutes"][0]) / 60
columns = int(source["N_bins_in_360_longitude_range"][0])
first_segment = source["Id_of_first_segment_in_a_bin"][:]
segments_in = source["N_segments_in_a_bin"][:]
first_point = source["Id_of_first_point_in_a_segment"][:]
points_in = source["N_points_for_a_segment"][:]
level_of = source["Hierarchial_level_of_a_segment"][:]
along = source["Relative_longitude_from_SW_corner_of_bin"][:].astype("int64") & 0xFFFF
up = source["Relative_latitude_from_SW_corner_of_bin"][:].astype("int64") & 0xFFFF

inside = lambda x, y: WEST <= x / STEPS_PER_DEGREE <= EAST and SOUTH <= y / STEPS_PER_DEGREE <= NORTH
lines = []
for at, count in enumerate(segments_in):
    south = 90 - (at // columns + 1) * bin_deg
    west = (at % columns) * bin_deg
    if count == 0 or west > EAST or west + bin_deg < WEST or south > NORTH or south + bin_deg < SOUTH:
        continue
    for segment in range(first_segment[at], first_segment[at] + count):
        if level_of[segment] > MOST_LEVEL:
            continue
        points = []
        for point in range(first_point[segment], first_point[segment] + points_in[segment]):
            x = round((west + along[point] / 65535 * bin_deg) * STEPS_PER_DEGREE)
            y = round((south + up[point] / 65535 * bin_deg) * STEPS_PER_DEGREE)
            if not points or points[-1] != (x, y):
                points.append((x, y))
        if len(points) > 1 and any(inside(*point) for point in points):
            lines.append((int(level_of[segment]), points))

# Pieces of one level that meet, and where no third one does, are one line.
ends = {}
for i, (level, points) in enumerate(lines):
    for end in (points[0], points[-1]):
        ends.setdefault((level, end), []).append(i)
taken = set()
joined = []
for i, (level, points) in enumerate(lines):
    if i in taken:
        continue
    taken.add(i)
    chain = list(points)
    for _ in range(2):
        while True:
            others = [j for j in ends[level, chain[-1]] if j not in taken]
            if len(others) != 1 or len(ends[level, chain[-1]]) != 2:
                break
            taken.add(others[0])
            piece = lines[others[0]][1]
            chain += piece[1:] if piece[0] == chain[-1] else piece[-2::-1]
        chain.reverse()
    joined.append([level] + [n for point in chain for n in point])
joined.sort()
json.dump(
    {
        "from": "GSHHG 2.3.7 (Debian gmt-gshhg-high 2.3.7-6), binned_river_h.nc, levels 0 to %d" % MOST_LEVEL,
        "notice": "Rivers: GSHHG, Wessel and Smith, LGPL-3.0-or-later; from CIA World Data Bank II",
        "stepsPerDegree": STEPS_PER_DEGREE,
        "lines": joined,
    },
    sys.stdout,
    separators=(",", ":"),
)
