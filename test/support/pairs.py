"""Writes rows in every format that is read, by programs of others, and judges every format that is written.

`pairs.py write FOLDER OPERATION`: reads truth.ndjson, writes in.FORMAT. `pairs.py judge FOLDER OPERATION SOURCE`:
compares out.FORMAT with the truth, prints {pairs: {FORMAT: {JUDGE: {rows, different, first}}}}. `pairs.py cells FOLDER`:
compares cells and centres with h3-py, prints {versions, cells}. GDAL and `ogr2ogr` where they are here.
"""

import csv
import datetime
import importlib.metadata
import json
import os
import subprocess
import sys
from xml.sax.saxutils import escape, quoteattr

import h3
import pandas
import polars
import pyarrow
import pyarrow.csv
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import duckdb

OUTPUTS = ["csv", "tsv", "ndjson", "geojson", "parquet", "arrow", "arrows", "xlsx"]


def rows_of(folder):
    with open(f"{folder}/truth.ndjson", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def kept_by(source, row, operation):
    """XML and geometries have no rows without a position; openpyxl writes 15 digits, and formulas without values."""
    if operation == "decode":
        return None if source == "xlsx" and row["name"].startswith("=") else row
    if source in ("gpx", "kml") and (row["lat"] is None or row["lng"] is None):
        return None
    if source in ("geojson", "gpkg") and (row["lat"] is None or row["lng"] is None):
        return {**row, "lat": None, "lng": None}
    if source == "xlsx":
        short = {k: None if row[k] is None else float(f"{row[k]:.15g}") for k in ("lat", "lng")}
        is_formula = row["name"].startswith("=")
        return row if short == {k: row[k] for k in short} and not is_formula else None
    return row


def write(folder, operation):
    rows = rows_of(folder)
    values = ["place"] if operation == "decode" else ["lat", "lng"]
    names = ["id", "name", *values]
    kind = pyarrow.string() if operation == "decode" else pyarrow.float64()
    table = pyarrow.table(
        {
            "id": pyarrow.array([row["id"] for row in rows], pyarrow.int64()),
            "name": pyarrow.array([row["name"] for row in rows], pyarrow.string()),
            **{name: pyarrow.array([row[name] for row in rows], kind) for name in values},
        }
    )

    def written(value):
        return "" if value is None else value if isinstance(value, str) else repr(value)

    def point(row):
        """A position beside the code that decode has to read, or the one that encode has to."""
        return (21.0, 105.8) if operation == "decode" else (row["lat"], row["lng"])
    for path, delimiter in (("in.csv", ","), ("in.tsv", "\t")):
        with open(f"{folder}/{path}", "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, delimiter=delimiter)
            writer.writerow(names)
            for row in rows:
                writer.writerow([row["id"], row["name"], *(written(row[name]) for name in values)])
    with open(f"{folder}/in.ndjson", "w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps({name: row[name] for name in names}) + "\n")
    with open(f"{folder}/in.geojson", "w", encoding="utf-8") as file:
        features = [
            {
                "type": "Feature",
                "properties": {name: row[name] for name in names if name not in ("lat", "lng")},
                "geometry": None
                if operation == "decode" or row["lat"] is None or row["lng"] is None
                else {"type": "Point", "coordinates": [row["lng"], row["lat"]]},
            }
            for row in rows
        ]
        json.dump({"type": "FeatureCollection", "features": features}, file)
    pyarrow.parquet.write_table(table, f"{folder}/in.parquet", compression="zstd", row_group_size=5000)
    pyarrow.feather.write_feather(table, f"{folder}/in.arrow", compression="lz4", chunksize=4000)
    with pyarrow.ipc.new_stream(f"{folder}/in.arrows", table.schema) as stream:
        stream.write_table(table, max_chunksize=3000)
    import openpyxl

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    sheet.append(names)
    for row in rows:
        if kept_by("xlsx", row, operation) is not None:
            sheet.append([str(row["id"]), row["name"], *(row[name] for name in values)])
    book.save(f"{folder}/in.xlsx")
    with open(f"{folder}/in.gpx", "w", encoding="utf-8") as file:
        file.write('<?xml version="1.0"?><gpx version="1.1" creator="x" xmlns="http://www.topografix.com/GPX/1/1">')
        for row in rows:
            if kept_by("gpx", row, operation):
                lat, lng = point(row)
                at = f"lat={quoteattr(repr(lat))} lon={quoteattr(repr(lng))}"
                place = f"<sym>{escape(written(row['place']))}</sym>" if operation == "decode" else ""
                file.write(f"<wpt {at}><name>{escape(row['name'])}</name><desc>{row['id']}</desc>{place}</wpt>")
        file.write("</gpx>")
    with open(f"{folder}/in.kml", "w", encoding="utf-8") as file:
        file.write('<?xml version="1.0"?><kml xmlns="http://www.opengis.net/kml/2.2"><Document>')
        for row in rows:
            if kept_by("kml", row, operation):
                lat, lng = point(row)
                place = (
                    f'<ExtendedData><Data name="place"><value>{escape(written(row["place"]))}</value></Data></ExtendedData>'
                    if operation == "decode"
                    else ""
                )
                file.write(
                    f"<Placemark><name>{escape(row['name'])}</name><description>{row['id']}</description>{place}"
                    f"<Point><coordinates>{lng!r},{lat!r}</coordinates></Point></Placemark>"
                )
        file.write("</Document></kml>")
    made = ["ogr2ogr", "-f", "GPKG", f"{folder}/in.gpkg", f"{folder}/in.geojson", "-nln", "rows", "-nlt", "POINT"]
    if subprocess.run([*made, "-unsetFid"], capture_output=True).returncode != 0:
        print("ogr2ogr made no GeoPackage", file=sys.stderr)


def csv_rows(path, delimiter):
    with open(path, newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file, delimiter=delimiter)


def duckdb_rows(sql):
    relation = duckdb.sql(sql)
    return (dict(zip(relation.columns, row)) for row in relation.fetchall())


def sheet_rows(values):
    values = iter(values)
    names = next(values)
    return (dict(zip(names, row)) for row in values)


def geojson_rows(features):
    for feature in features:
        row = dict(feature["properties"])
        geometry = feature["geometry"]
        if geometry is not None:
            row["lng"], row["lat"] = row["d_lng"], row["d_lat"] = geometry["coordinates"][:2]
        yield row


def gdal_rows(path):
    program = (
        "import json,sys\nfrom osgeo import ogr\nogr.UseExceptions()\nds=ogr.Open(sys.argv[1])\n"
        "for f in ds.GetLayer(0):\n g=f.GetGeometryRef()\n"
        " print(json.dumps({'properties': f.items(), 'geometry': None if g is None else"
        " {'coordinates': [g.GetX(), g.GetY()]}}))"
    )
    ran = subprocess.run(["/usr/bin/python3", "-W", "ignore", "-c", program, path], capture_output=True, text=True)
    if ran.returncode != 0:
        raise ValueError(ran.stderr[-500:])
    return geojson_rows(json.loads(line) for line in ran.stdout.splitlines())


def judges_of(folder, has_gdal):
    at = {name: f"{folder}/out.{name}" for name in OUTPUTS}
    text = "all_varchar = true, header = true, quote = '\"', escape = '\"', strict_mode = false, null_padding = false"

    def pandas_tsv():
        frame = pandas.read_csv(at["tsv"], sep="\t", dtype=str, keep_default_na=False)
        return frame.to_dict("records")

    def calamine():
        from python_calamine import CalamineWorkbook

        return sheet_rows(CalamineWorkbook.from_path(at["xlsx"]).get_sheet_by_index(0).to_python())

    def openpyxl_rows():
        import openpyxl

        return sheet_rows(openpyxl.load_workbook(at["xlsx"], read_only=True).active.values)

    def geojson():
        with open(at["geojson"], encoding="utf-8") as file:
            return geojson_rows(json.load(file)["features"])

    def ndjson():
        with open(at["ndjson"], encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    both = {
        "csv": {
            "csv": lambda: csv_rows(at["csv"], ","),
            "duckdb": lambda: duckdb_rows(f"SELECT * FROM read_csv('{at['csv']}', delim = ',', {text})"),
        },
        "tsv": {"pandas": pandas_tsv},
        "ndjson": {"json": ndjson, "polars": lambda: polars.read_ndjson(at["ndjson"], infer_schema_length=None).to_dicts()},
        "geojson": {"json": geojson},
        "parquet": {
            "pyarrow": lambda: pyarrow.parquet.read_table(at["parquet"]).to_pylist(),
            "duckdb": lambda: duckdb_rows(f"SELECT * EXCLUDE (geometry) FROM '{at['parquet']}'")
            if "geometry" in pyarrow.parquet.read_schema(at["parquet"]).names
            else duckdb_rows(f"SELECT * FROM '{at['parquet']}'"),
        },
        "arrow": {
            "pyarrow": lambda: pyarrow.feather.read_table(at["arrow"]).to_pylist(),
            "polars": lambda: polars.read_ipc(at["arrow"]).to_dicts(),
        },
        "arrows": {"pyarrow": lambda: pyarrow.ipc.open_stream(at["arrows"]).read_all().to_pylist()},
        "xlsx": {"openpyxl": openpyxl_rows, "calamine": calamine},
    }
    if has_gdal:
        both["geojson"]["gdal"] = lambda: gdal_rows(at["geojson"])
    return both


def number(value):
    if value is None or value == "":
        return None
    return float(value)


def text(value):
    return "" if value is None else str(value)


def as_text(value):
    """Texts of numbers, days and truth values are such cells of a workbook."""
    if isinstance(value, (datetime.datetime, datetime.date)):
        return value.isoformat().removesuffix("T00:00:00")
    if isinstance(value, bool):
        return str(value).lower()
    return text(int(value) if isinstance(value, float) and value.is_integer() else value)


def flat(row):
    """A feature to NDJSON stays a feature, with our members behind its own."""
    return {**row, **next(geojson_rows([row]))} if row.get("type") == "Feature" else row


def compare(truth, found, source, operation):
    """The rows of a judge against the truth: order, count and every value."""
    id_name = {"gpx": "desc", "kml": "description"}.get(source, "id")
    place_name = {"gpx": "sym"}.get(source, "place")
    # Beside the position of the file.
    prefix = "d_" if operation == "decode" and source in ("gpx", "kml") else ""
    different, first = {}, None

    def note(kind, row, saw):
        nonlocal first
        different[kind] = different.get(kind, 0) + 1
        first = first or f"{kind}: {row} as {saw}"

    rows = 0
    for rows, (row, saw) in enumerate(zip(truth, map(flat, found)), 1):
        if as_text(saw.get(id_name)) != str(row["id"]):
            note("order or id", row, saw)
        if as_text(saw.get("name")) != row["name"]:
            note("name", row, saw)
        if text(saw[f"{prefix}status"]) != row["status"]:
            note("status", row, saw)
        if operation == "decode":
            if as_text(saw.get(place_name)) != text(row["place"]):
                note("place", row, saw)
        else:
            if text(saw["hexcodes"]) != row["code"]:
                note("code", row, saw)
            if text(saw["admin_code"]) != row["code"].split("-")[0]:
                note("admin_code", row, saw)
        if number(saw[f"{prefix}resolution"]) != row["resolution"]:
            note("resolution", row, saw)
        # A position beyond the world is no geometry, but stays among the properties of GeoJSON.
        for axis in ("lat", "lng"):
            if number(saw.get(prefix + axis)) != row[axis]:
                note(axis, row, saw)
    if rows != len(truth) or next(found, None) is not None:
        note("count", len(truth), rows)
    return {"rows": rows, "different": different, "first": first}


def judge(folder, operation, source):
    truth = [row for row in (kept_by(source, row, operation) for row in rows_of(folder)) if row is not None]
    has_gdal = subprocess.run(["/usr/bin/python3", "-c", "import osgeo.ogr"], capture_output=True).returncode == 0
    pairs = {}
    for output, judges in judges_of(folder, has_gdal).items():
        pairs[output] = {}
        if not os.path.exists(f"{folder}/out.{output}"):
            continue
        for name, read in judges.items():
            try:
                pairs[output][name] = compare(truth, iter(read()), source, operation)
            except Exception as error:
                pairs[output][name] = {"rows": 0, "different": {"file": 1}, "first": repr(error)[:500]}
    print(json.dumps({"pairs": pairs}))


def versions():
    names = ["pyarrow", "duckdb", "polars", "pandas", "openpyxl", "python-calamine", "h3"]
    found = {name: importlib.metadata.version(name) for name in names}
    gdal = subprocess.run(["ogr2ogr", "--version"], capture_output=True, text=True)
    if gdal.returncode == 0:
        found["gdal"] = gdal.stdout.split(",")[0].removeprefix("GDAL ")
    return found


def cells(folder):
    """Rows whose cell, or its centre, is another by h3-py."""
    different = 0
    for row in rows_of(folder):
        if row["cell"] is None:
            continue
        if "place" in row:
            centre = h3.cell_to_latlng(row["cell"])
            is_same = max(abs(centre[0] - row["lat"]), abs(centre[1] - row["lng"])) < 1e-9
            is_same = is_same and h3.get_resolution(row["cell"]) == row["resolution"]
        else:
            is_same = h3.latlng_to_cell(row["lat"], row["lng"], 13) == row["cell"]
        different += not is_same
    print(json.dumps({"versions": versions(), "cells": different}))


if __name__ == "__main__":
    commands = {"write": write, "cells": cells, "judge": judge}
    commands[sys.argv[1]](*sys.argv[2:])
