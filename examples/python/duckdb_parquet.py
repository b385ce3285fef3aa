"""A column of hexcodes for a Parquet file of any size, by a vectorised function of DuckDB: DuckDB reads, we convert, DuckDB writes.

    pip install hexcodes-VERSION-py3-none-any.whl duckdb pyarrow
    python duckdb_parquet.py in.parquet out.parquet

DuckDB hands over columns of 2,048 rows as Arrow; nothing is a Python object a row, and no more than the memory limit is held.
"""

import argparse

import duckdb
import hexcodes


def add_functions(connection: duckdb.DuckDBPyConnection) -> None:
    """hexcode(lat, lng, resolution) and province(lat, lng) for SQL; null where a position has none."""
    double, text, small = "DOUBLE", "VARCHAR", "UTINYINT"
    connection.create_function("hexcode", hexcodes.encode, [double, double, small], text, type="arrow", null_handling="special")
    connection.create_function("province", hexcodes.provinces, [double, double], text, type="arrow", null_handling="special")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", help="Parquet with lat and lng in degrees")
    parser.add_argument("target")
    parser.add_argument("--resolution", type=int, default=13)
    parser.add_argument("--memory", default="1GB", help="what DuckDB may hold")
    options = parser.parse_args()
    with duckdb.connect() as connection:
        connection.execute("SET memory_limit = ?", [options.memory])
        # A larger file than memory is written as it is read only if its order need not be kept.
        connection.execute("SET preserve_insertion_order = false")
        add_functions(connection)
        source, target = (name.replace("'", "''") for name in (options.source, options.target))
        connection.execute(
            f"COPY (SELECT *, hexcode(lat, lng, {options.resolution}) AS hexcodes FROM read_parquet('{source}')) TO '{target}' (FORMAT parquet)"
        )


if __name__ == "__main__":
    main()
