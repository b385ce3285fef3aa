"""A column of hexcodes for a Parquet file of any size, by an expression on a lazy frame of Polars.

    pip install hexcodes-VERSION-py3-none-any.whl polars pyarrow
    python polars_lazy.py in.parquet out.parquet
"""

import argparse

import hexcodes
import polars as pl


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", help="Parquet with lat and lng in degrees")
    parser.add_argument("target")
    parser.add_argument("--resolution", type=int, default=13)
    options = parser.parse_args()
    code = hexcodes.encode(pl.col("lat"), pl.col("lng"), options.resolution)
    pl.scan_parquet(options.source).with_columns(code.alias("hexcodes")).sink_parquet(options.target)


if __name__ == "__main__":
    main()
