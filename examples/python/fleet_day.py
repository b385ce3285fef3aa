"""The day of a fleet, from its positions in Parquet to codes, stays and a picture of where it was.

    pip install hexcodes-VERSION-py3-none-any.whl polars pyarrow h3 matplotlib
    python fleet_day.py day.parquet --to day/ --make 50000     # makes day.parquet first: invented vehicles
    python fleet_day.py day.parquet --to day/

day.parquet has vehicle, time, lat and lng, in any order. In the folder are then
  codes.parquet   all columns and the hexcode of each position
  stays.parquet   one row for each stay of a vehicle in one cell, as of `hexcodes track`: place, since, until, positions
  heat.png        where the fleet was: vehicle hours of each cell
"""

import argparse
import math
import time
from pathlib import Path

import hexcodes
import numpy as np
import polars as pl

STAY_RESOLUTION = 9  # edges of 200 m
HEAT_RESOLUTION = 6  # edges of 3.7 km


def make_day(target: str, vehicles: int, positions: int) -> None:
    """Vehicles that drive between eight stops of their town all day; one in ten drives from town to town."""
    towns = np.array([
        [20.85, 106.68], [21.03, 105.84], [19.81, 105.78], [18.68, 105.68], [17.47, 106.60], [16.46, 107.59],
        [16.05, 108.20], [13.78, 109.20], [12.25, 109.18], [11.57, 108.99], [10.79, 106.68], [10.04, 105.77],
    ])
    weights = np.array([9, 28, 4, 4, 2, 4, 8, 3, 3, 1, 28, 6]) / 100
    random = np.random.default_rng(7)
    stops = 8
    town = np.repeat(random.choice(len(towns), vehicles, p=weights)[:, None], stops, axis=1)
    far = random.random(vehicles) < 0.1
    steps = random.choice([-1, 1], far.sum())[:, None] * np.arange(stops)
    town[far] = np.clip(town[far] + steps, 0, len(towns) - 1)
    places = towns[town] + random.normal(0, 0.06, (vehicles, stops, 2))
    # A quarter of the time to the next stop it drives, then it stands there.
    at = np.linspace(0, stops - 1.001, positions)
    leg = at.astype(int)
    share = np.minimum(1, 4 * (at - leg))[None, :, None]
    way = places[:, leg] * (1 - share) + places[:, leg + 1] * share + random.normal(0, 0.0001, (vehicles, positions, 2))
    start = np.datetime64("2026-03-02T00:00:00", "ms")
    times = start + (np.arange(positions) * (86_400_000 // positions)).astype("timedelta64[ms]")
    day = pl.DataFrame({
        "vehicle": np.repeat(np.arange(vehicles, dtype=np.int32), positions),
        "time": np.tile(times, vehicles),
        "lat": way[:, :, 0].ravel(),
        "lng": way[:, :, 1].ravel(),
    })
    day.with_columns(pl.col("time").dt.replace_time_zone("UTC")).sort("time").write_parquet(target)


def stays_of(day: pl.LazyFrame) -> pl.LazyFrame:
    """Positions in one cell that follow each other are one stay. Those in no province belong to none."""
    place = hexcodes.encode(pl.col("lat"), pl.col("lng"), STAY_RESOLUTION)
    followed = (
        day.select("vehicle", "time", place=place)
        .filter(pl.col("place").is_not_null())
        .sort("vehicle", "time", maintain_order=True)
    )
    is_new = pl.struct("vehicle", "place").rle_id()
    return (
        followed.group_by(stay=is_new, maintain_order=True)
        .agg(
            pl.first("vehicle"), pl.first("place"), since=pl.first("time"), until=pl.last("time"), positions=pl.len()
        )
        .drop("stay")
    )


def draw(day: pl.LazyFrame, positions_of_an_hour: float, target: Path) -> None:
    import h3
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import LogNorm

    cell = hexcodes.cells(pl.col("lat"), pl.col("lng"), HEAT_RESOLUTION)
    counts = day.select(cell=cell).filter(pl.col("cell") != 0).group_by("cell").len().sort("len").collect()
    shapes = [[(lng, lat) for lat, lng in h3.cell_to_boundary(h3.int_to_str(cell))] for cell in counts["cell"]]
    hours = counts["len"].to_numpy() / positions_of_an_hour
    figure, axes = pyplot.subplots(figsize=(6, 8), dpi=150, layout="constrained")
    drawn = PolyCollection(shapes, array=hours, cmap="inferno_r", norm=LogNorm(), linewidths=0)
    axes.add_collection(drawn)
    axes.set(xlim=(101.8, 110), ylim=(8.3, 23.6), aspect=1 / math.cos(math.radians(16)))
    axes.set(xlabel="longitude", ylabel="latitude", title="Where the fleet was")
    figure.colorbar(drawn, shrink=0.5, label="vehicle hours in a cell of 36 km²")
    notice = "Contains information from OpenStreetMap, © OpenStreetMap contributors, ODbL 1.0"
    axes.annotate(notice, (0, 0), (4, 4), "axes fraction", "offset points", size=5)
    figure.savefig(target)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", help="Parquet with vehicle, time, lat and lng in degrees")
    parser.add_argument("--to", required=True, type=Path, help="folder of what is made")
    parser.add_argument("--resolution", type=int, default=13, help="of the codes")
    parser.add_argument("--make", type=int, metavar="VEHICLES", help="make the source first")
    parser.add_argument("--positions", type=int, default=288, help="of each vehicle that is made: one in five minutes")
    options = parser.parse_args()
    if options.make is not None:
        make_day(options.source, options.make, options.positions)
    options.to.mkdir(parents=True, exist_ok=True)
    day = pl.scan_parquet(options.source)

    started = time.perf_counter()
    code = hexcodes.encode(pl.col("lat"), pl.col("lng"), options.resolution)
    day.with_columns(hexcodes=code).sink_parquet(options.to / "codes.parquet")
    coded = time.perf_counter()
    stays = stays_of(day).collect()
    stays.write_parquet(options.to / "stays.parquet")
    stayed = time.perf_counter()
    size = day.select(pl.len(), vehicles=pl.col("vehicle").n_unique()).collect().row(0, named=True)
    draw(day, size["len"] / size["vehicles"] / 24, options.to / "heat.png")
    print(
        f"{size['len']:,} positions of {size['vehicles']:,} vehicles: codes {coded - started:.1f} s, "
        f"{len(stays):,} stays {stayed - coded:.1f} s, picture {time.perf_counter() - stayed:.1f} s"
    )


if __name__ == "__main__":
    main()
