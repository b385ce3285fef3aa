# Columns of every flat type of Arrow, and what becomes of them, by pyarrow.
#   arrow_types.py make FILE SEED      writes a file of 300 rows
#   arrow_types.py check SOURCE OUTPUT prints the columns of SOURCE that are others in OUTPUT
import decimal
import random
import sys

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

ROWS = 300
UNITS = ("s", "ms", "us", "ns")
TYPES = (
    [pa.timestamp(unit, zone) for unit in UNITS for zone in (None, "UTC", "Asia/Ho_Chi_Minh")]
    + [pa.duration(unit) for unit in UNITS]
    + [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"), pa.date32()]
    + [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()]
    + [pa.float32(), pa.float64(), pa.bool_(), pa.string(), pa.binary()]
    + [pa.decimal128(9, 2), pa.decimal128(30, 4), pa.decimal256(60, 3)]
)


def value(r, of):
    if r.random() < 0.2:
        return None
    if pa.types.is_string(of):
        return "".join(r.choice("aé😀,\"\n ") for _ in range(r.randrange(40)))
    if pa.types.is_binary(of):
        return r.randbytes(r.randrange(40))
    if pa.types.is_boolean(of):
        return r.random() < 0.5
    if pa.types.is_decimal(of):
        return decimal.Decimal(r.randrange(-(10**9) + 1, 10**9)).scaleb(-of.scale)
    if pa.types.is_floating(of):
        return r.randrange(-1000, 1000) / 8
    if pa.types.is_time(of):
        return r.randrange(86_400) * 10 ** (3 * UNITS.index(of.unit))
    if pa.types.is_integer(of):
        return r.randrange(128) if of.bit_width == 8 else r.randrange(2 ** (of.bit_width - 1))
    return r.randrange(2_000_000_000) if pa.types.is_date(of) is False else r.randrange(-40_000, 40_000)


def make(path, seed):
    r = random.Random(seed)
    positions = {"lat": [21 + i / 1000 for i in range(ROWS)], "lng": [105.8] * ROWS}
    columns = {str(of): pa.array([value(r, of) for _ in range(ROWS)], of) for of in TYPES}
    feather.write_feather(pa.table(positions | columns), path, compression="uncompressed", chunksize=70)


def check(source, output):
    before = feather.read_table(source).combine_chunks()
    after = (pq.read_table(output) if output.endswith(".parquet") else feather.read_table(output)).combine_chunks()
    for name in before.column_names:
        [one, other] = [before[name], after[name]]
        if output.endswith(".parquet"):
            # Parquet has no seconds and no durations, and its times of Arrow's text are read as such.
            if pa.types.is_duration(one.type) or pa.types.is_decimal256(one.type):
                continue
            one = one.cast(other.type)
        if one.type != other.type or not one.equals(other):
            print(name, one.type, other.type)


{"make": make, "check": check}[sys.argv[1]](*sys.argv[2:])
