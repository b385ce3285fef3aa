# Files with nested columns of any types, and what becomes of them, by pyarrow.
#   nested.py make FOLDER SEED COUNT FORMAT   writes N.FORMAT and a line of JSON for each: path, columns, failed rows
#   nested.py check SOURCE OUTPUT KEPT ROWS   compares the columns KEPT (JSON) of the rows ROWS (JSON; null for all)
import decimal
import json
import random
import sys

import pyarrow as pa
import pyarrow.parquet as pq


def leaf(r):
    return r.choice(
        [pa.int8(), pa.uint16(), pa.int32(), pa.int64(), pa.uint64(), pa.float32(), pa.float64(), pa.string()]
        + [pa.binary(), pa.binary(3), pa.bool_(), pa.date32(), pa.timestamp("us", "UTC"), pa.timestamp("ms")]
        + [pa.timestamp("ns", "Asia/Ho_Chi_Minh"), pa.decimal128(9, 2), pa.decimal128(30, 4), pa.time64("us")]
    )


def field(r, name, of):
    return pa.field(name, of, nullable=r.random() < 0.6)


def nested(r, depth):
    """A type with others within it."""
    within = (lambda: nested(r, depth - 1)) if depth > 0 and r.random() < 0.5 else (lambda: leaf(r))
    kind = r.randrange(5)
    if kind == 0:
        return pa.list_(field(r, "element", within()))
    if kind == 1:
        return pa.struct([field(r, f"f{i} ô", within()) for i in range(r.randint(1, 3))])
    if kind == 2:
        keys = pa.struct([field(r, "k", pa.int32())]) if r.random() < 0.2 else r.choice([pa.string(), pa.int64()])
        return pa.map_(keys, field(r, "value", within()))
    if kind == 3:
        return pa.large_list(field(r, "element", within()))
    return pa.list_(pa.field("element", within(), nullable=False))


def value(r, of, nullable):
    if nullable and r.random() < 0.25:
        return None
    if pa.types.is_struct(of):
        return {f.name: value(r, f.type, f.nullable) for f in of}
    count = r.choice([0, 0, 1, 2, 3, 40])
    if pa.types.is_map(of):
        keys = [value(r, of.key_type, False) for _ in range(count)]
        return [(key, value(r, of.item_type, of.item_field.nullable)) for key in keys]
    if pa.types.is_list(of) or pa.types.is_large_list(of):
        return [value(r, of.value_type, of.value_field.nullable) for _ in range(count)]
    few = r.random() < 0.7
    if pa.types.is_boolean(of):
        return r.random() < 0.5
    if pa.types.is_floating(of):
        return float(r.randrange(8)) if few else r.uniform(-1000, 1000)
    if pa.types.is_string(of):
        return r.choice(["", "a", "Hà Nội"]) if few else "x" * r.randrange(30)
    if pa.types.is_fixed_size_binary(of):
        return bytes(r.randrange(4) for _ in range(3))
    if pa.types.is_binary(of):
        return bytes(r.randrange(256) for _ in range(r.randrange(5)))
    if pa.types.is_decimal(of):
        return decimal.Decimal(r.randrange(-99999, 99999)) / 100
    return r.randrange(8) if few else r.randrange(128)


def table(r):
    rows = r.choice([1, 7, 300, 1200])
    columns = [pa.field("lat", pa.float64()), pa.field("lng", pa.float64(), nullable=False), pa.field("id", pa.int64())]
    columns += [field(r, f"n{i}", nested(r, 2)) for i in range(r.randint(1, 3))]
    r.shuffle(columns)
    often = r.choice([0, 0.02, 0.5])
    failed = [row for row in range(rows) if r.random() < often]
    lats = [None if row % 3 == 0 else 51.5 for row in range(rows)]
    bad = set(failed)
    columns_of = {
        "lat": [lats[row] if row in bad else 10.4 + r.random() / 2 for row in range(rows)],
        "lng": [106.5 + r.random() / 3 for _ in range(rows)],
        "id": list(range(rows)),
    }
    arrays = [
        pa.array(columns_of.get(f.name) or [value(r, f.type, f.nullable) for _ in range(rows)], f.type) for f in columns
    ]
    return pa.table(arrays, schema=pa.schema(columns)), failed


def write(r, made, path, form):
    if form == "parquet":
        pq.write_table(
            made,
            path,
            row_group_size=r.choice([50, 1000, 5000]),
            compression=r.choice(["none", "snappy", "gzip", "zstd", "lz4"]),
            use_dictionary=r.random() < 0.5,
            data_page_size=r.choice([200, 1 << 20]),
            write_statistics=r.random() < 0.8,
            store_schema=r.random() < 0.8,
        )
        return
    opened = pa.ipc.new_file if form == "arrow" else pa.ipc.new_stream
    options = pa.ipc.IpcWriteOptions(compression=r.choice([None, "lz4", "zstd"]))
    with opened(path, made.schema, options=options) as writer:
        writer.write_table(made, max_chunksize=r.choice([50, 1000, 5000]))


def read(path):
    if path.endswith(".parquet"):
        return pq.read_table(path)
    opened = pa.ipc.open_file if path.endswith(".arrow") else pa.ipc.open_stream
    return opened(pa.memory_map(path)).read_all()


def make(folder, seed, count, form):
    for number in range(int(count)):
        r = random.Random(f"{seed} {number}")
        made, failed = table(r)
        path = f"{folder}/{number}.{form}"
        write(r, made, path, form)
        print(json.dumps({"path": path, "columns": made.column_names, "rows": made.num_rows, "failed": failed}))


def check(source, output, kept, rows):
    names = json.loads(kept)
    before = read(source).select(names)
    rows = json.loads(rows)
    if rows is not None:
        before = before.take(pa.array(rows, pa.int64()))
    after = read(output).select(names)
    after.validate(full=True)
    for name in names:
        one, other = before.schema.field(name), after.schema.field(name)
        if not one.equals(other):
            return f"{name}: {other} instead of {one}"
        if not before.column(name).equals(after.column(name)):
            return f"{name}: other values"
    return None


if sys.argv[1] == "make":
    make(*sys.argv[2:])
else:
    for line in sys.stdin:
        fault = check(*json.loads(line))
        print(json.dumps(fault))
