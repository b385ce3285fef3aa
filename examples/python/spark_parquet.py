"""A column of hexcodes for Parquet files, by mapInArrow of Spark: each executor has a kernel of its own, and needs nothing from outside.

    pip install hexcodes-VERSION-py3-none-any.whl pyspark pyarrow     (on each machine of a cluster; Java 17 or newer)
    python spark_parquet.py in.parquet out
    spark-submit --master spark://... spark_parquet.py in.parquet out

Without --master two executors are started here, each a process of its own with one core and 2 GiB, as fits 2 cores and 24 GiB.
"""

import argparse
import os
import sys
from typing import Iterator

import hexcodes
import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.types import StringType, StructField, StructType

HERE = "local-cluster[2,1,2048]"


def with_codes(resolution: int):
    """A function for mapInArrow that adds the column hexcodes."""

    def convert(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            codes = hexcodes.encode(batch["lat"], batch["lng"], resolution)
            yield pa.RecordBatch.from_arrays([*batch.columns, codes], names=[*batch.schema.names, "hexcodes"])

    return convert


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", help="Parquet with lat and lng in degrees")
    parser.add_argument("target", help="a folder, which must not exist")
    parser.add_argument("--resolution", type=int, default=13)
    parser.add_argument("--master", default=HERE)
    parser.add_argument("--partition-bytes", default="16m", help="what a task reads")
    options = parser.parse_args()
    builder = SparkSession.builder.appName("hexcodes").config("spark.sql.files.maxPartitionBytes", options.partition_bytes)
    if options.master == HERE:
        # The Python that runs this, with the packages that it has.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        # One machine with 24 GiB: 2 executors of 2 GiB, 1 GiB for the Python beside each, 2 GiB for the driver. Loopback only.
        for name, value in {
            "spark.driver.memory": "2g",
            "spark.executor.memory": "1536m",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.sql.execution.arrow.maxRecordsPerBatch": "40960",
        }.items():
            builder = builder.config(name, value)
    session = builder.master(options.master).getOrCreate()
    frame = session.read.parquet(options.source)
    schema = StructType([*frame.schema.fields, StructField("hexcodes", StringType())])
    frame.mapInArrow(with_codes(options.resolution), schema).write.parquet(options.target)
    session.stop()


if __name__ == "__main__":
    main()
