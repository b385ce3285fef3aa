"""SQL functions of Spark, and a table partitioned by province, of Parquet or Delta Lake.

    cp hexcodes-VERSION-py3-none-any.whl hexcodes.zip
    spark-submit --py-files hexcodes.zip spark_sql.py in.parquet out
    spark-submit --packages io.delta:delta-spark_4.1_2.13:4.2.0 spark_sql.py in.parquet out --format delta
    python spark_sql.py in.parquet out --master 'local[2]'

--py-files ships the wheel, as a .zip, since Spark imports out of no .whl; numpy, pyarrow and wasmtime must be on the executors, installed
or in an archive of the environment (--archives env.tar.gz#env, as conda-pack and venv-pack make it). Needs Spark 4.1, for arrow_udf; before,
pandas_udf over Series does it. Numbers may be DOUBLE or DECIMAL. A row without a code, for a NULL, a position in no province or a resolution
that is none, gets NULL and fails nothing else.
"""

import argparse
import os
import sys

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.functions import arrow_udf
from pyspark.sql.types import StringType

DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}

# A good row, and four that have no code.
ROWS = "(21.0288, 105.8525, 13), (NULL, 105.8525, 13), (double('NaN'), 105.8525, 13), (91, 105.8525, 13), (21.0288, 105.8525, 99)"


@arrow_udf(StringType())
def hexcode(lat: pa.Array, lng: pa.Array, resolution: pa.Array) -> pa.Array:
    import hexcodes

    return hexcodes.encode(lat, lng, resolution)


@arrow_udf(StringType())
def province(lat: pa.Array, lng: pa.Array) -> pa.Array:
    import hexcodes

    return hexcodes.provinces(lat, lng)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", help="Parquet with lat and lng in degrees")
    parser.add_argument("target", help="a folder, which must not exist")
    parser.add_argument("--resolution", type=int, default=13)
    parser.add_argument("--format", choices=["parquet", "delta"], default="parquet")
    parser.add_argument("--master", help="as spark-submit takes it, which has its own option")
    options = parser.parse_args()
    builder = SparkSession.builder.appName("hexcodes")
    if options.master is not None:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = builder.master(options.master).config("spark.driver.host", "127.0.0.1").config("spark.ui.enabled", "false")
    if options.format == "delta":
        for name, value in DELTA.items():
            builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.udf.register("hexcode", hexcode)
    session.udf.register("province", province)
    session.read.parquet(options.source).createOrReplaceTempView("positions")
    coded = session.sql(f"SELECT *, hexcode(lat, lng, {options.resolution}) AS hexcodes, province(lat, lng) AS province FROM positions")
    coded.write.format(options.format).partitionBy("province").save(options.target)
    decimals = "SELECT hexcode(21.0288, 105.8525, 13) AS hexcodes"
    rows = f"SELECT hexcode(lat, lng, resolution) FROM VALUES {ROWS} AS rows (lat, lng, resolution)"
    print(*(row.hexcodes for row in session.sql(f"{decimals} UNION ALL {rows}").collect()))
    session.stop()


if __name__ == "__main__":
    main()
