"""What a point costs by each way into the package, beside the kernel's calls alone and h3-py's cell alone: CPU time, the subjects in turns.

    build/python-env/bin/python clients/python/bench.py [--rounds 5] [--base http://127.0.0.1:8080/v1 --key KEY]

h3ronpy and openlocationcode are subjects where they are installed. With --base the client of the service is one more subject; its time is that of this process, to which the service's comes.
"""

import argparse
import statistics
import time

import duckdb
import h3
import hexcodes
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hexcodes.client import HexcodesClient

POINTS, SINGLE = 400_000, 10_000


def subjects(options):
    random = np.random.default_rng(38)
    lat, lng = random.uniform(20.8, 21.2, POINTS), random.uniform(105.5, 106.0, POINTS)
    kernel = hexcodes.default.kernel
    views = kernel.views
    arrow, frame = (pa.array(lat), pa.array(lng)), pl.DataFrame({"lat": lat, "lng": lng})
    series = pd.Series(lat), pd.Series(lng)
    codes = hexcodes.encode(*arrow)
    pairs = list(zip(lat[:SINGLE].tolist(), lng[:SINGLE].tolist()))
    single_codes = [hexcodes.encode(*pair) for pair in pairs]
    single_cells = [h3.latlng_to_cell(*pair, 13) for pair in pairs]
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    connection.create_function("hexcode", hexcodes.encode, ["DOUBLE", "DOUBLE", "UTINYINT"], "VARCHAR", type="arrow", null_handling="special")
    connection.execute("CREATE TABLE points AS SELECT * FROM frame")

    def kernel_alone():
        views.points[:, 0], views.points[:, 1] = lat[:4096], lng[:4096]
        for _ in range(POINTS // 4096):
            kernel.call("encodeBatch", 4096, 13)

    def one_by_one(call):
        return lambda: [call(a, b) for a, b in pairs]

    found = {
        "the kernel's calls alone": (kernel_alone, POINTS // 4096 * 4096),
        "encode, Arrow": (lambda: hexcodes.encode(*arrow), POINTS),
        "encode, NumPy": (lambda: hexcodes.encode(lat, lng), POINTS),
        "encode, pandas": (lambda: hexcodes.encode(*series), POINTS),
        "encode, Polars": (lambda: frame.lazy().select(hexcodes.encode(pl.col("lat"), pl.col("lng"))).collect(), POINTS),
        "encode, DuckDB": (lambda: connection.execute("SELECT max(hexcode(lat, lng, 13)) FROM points").fetchall(), POINTS),
        "decode, Arrow": (lambda: hexcodes.decode(codes), POINTS),
        "cells, NumPy": (lambda: hexcodes.cells(lat, lng), POINTS),
        "provinces, Arrow": (lambda: hexcodes.provinces(*arrow), POINTS),
        "former provinces, Arrow": (lambda: hexcodes.former_provinces(*arrow), POINTS),
        "encode, one by one": (one_by_one(hexcodes.encode), SINGLE),
        "decode, one by one": (lambda: [hexcodes.decode(code) for code in single_codes], SINGLE),
        "h3-py cell_to_latlng alone": (lambda: [h3.cell_to_latlng(cell) for cell in single_cells], SINGLE),
        "h3-py cell_to_latlng, get_resolution, str_to_int": (
            lambda: [(h3.cell_to_latlng(cell), h3.get_resolution(cell), h3.str_to_int(cell)) for cell in single_cells],
            SINGLE,
        ),
        "h3-py latlng_to_cell alone": (one_by_one(lambda a, b: h3.latlng_to_cell(a, b, 13)), SINGLE),
    }
    found.update(peers(lat, lng, pairs, one_by_one))
    if options.base:
        client = HexcodesClient(options.base, options.key)
        points = np.column_stack([lat, lng])
        found["service by its client, NumPy"] = (lambda: client.encode_array(points), POINTS)
    return found


def peers(lat, lng, pairs, one_by_one):
    found = {}
    try:
        from h3ronpy.vector import cells_to_coordinates, coordinates_to_cells

        cells = coordinates_to_cells(lat, lng, 13)
        found["h3ronpy, cells of coordinates"] = (lambda: coordinates_to_cells(lat, lng, 13), POINTS)
        found["h3ronpy, coordinates of cells"] = (lambda: cells_to_coordinates(cells), POINTS)
    except ImportError:
        pass
    try:
        from openlocationcode import openlocationcode as plus

        texts = [plus.encode(*pair, 11) for pair in pairs]
        found["openlocationcode encode, one by one"] = (one_by_one(lambda a, b: plus.encode(a, b, 11)), SINGLE)
        found["openlocationcode decode, one by one"] = (lambda: [plus.decode(each) for each in texts], SINGLE)
    except ImportError:
        pass
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--base")
    parser.add_argument("--key")
    options = parser.parse_args()
    timed = {name: (run, count, []) for name, (run, count) in subjects(options).items()}
    for _ in range(options.rounds):
        for run, count, times in timed.values():
            start = time.process_time()
            run()
            times.append((time.process_time() - start) / count * 1e9)
    medians = {name: statistics.median(times) for name, (_, _, times) in timed.items()}
    kernel, h3_alone = medians["the kernel's calls alone"], medians["h3-py latlng_to_cell alone"]
    print("| | x the kernel | x faster than h3-py's cell | ns of CPU a point | million a second and core |\n|---|---|---|---|---|")
    for name, ns in medians.items():
        print(f"| {name} | {ns / kernel:.2f} | {h3_alone / ns:.1f} | {ns:.0f} | {1000 / ns:.2f} |")


if __name__ == "__main__":
    main()
