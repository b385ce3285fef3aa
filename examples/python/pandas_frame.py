"""A column of hexcodes for a frame of pandas, and how many positions each cell of 1 km has.

    pip install hexcodes-VERSION-py3-none-any.whl pandas pyarrow
    python pandas_frame.py in.parquet out.parquet
"""

import argparse

import hexcodes
import pandas as pd


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", help="Parquet with lat and lng in degrees, which fits into memory")
    parser.add_argument("target")
    parser.add_argument("--resolution", type=int, default=13)
    options = parser.parse_args()
    frame = pd.read_parquet(options.source)
    frame["hexcodes"] = hexcodes.encode(frame["lat"], frame["lng"], options.resolution)
    frame.to_parquet(options.target, index=False)
    print(hexcodes.encode(frame["lat"], frame["lng"], 8).value_counts().head())


if __name__ == "__main__":
    main()
