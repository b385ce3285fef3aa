"""The installed package hexcodes: columns of every kind, errors, threads, processes, damaged files, and that it stays in its process.

python -m unittest discover clients/python/tests; whether answers are those of the library is compared by
test/conformance/python-package.test.ts and doors.test.ts.
"""

import concurrent.futures
import importlib
import json
import multiprocessing
import pickle
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings
import zipfile
import zlib
from array import array
from decimal import Decimal
from pathlib import Path

import geopandas
import h3
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from shapely import Point

import hexcodes
from hexcodes import Hexcodes, HexcodesError, _kernel

DATA = Path(hexcodes.__file__).parent / "data"
LATS = [21.0288, 10.7769, 0.0, None]
LNGS = [105.8525, 106.7009, 0.0, 1.0]
CODES = ["HN-6GHP4-83J", "HCM-GXC6M-PC9", None, None]
CELLS = [h3.str_to_int(h3.latlng_to_cell(lat, lng, 10)) for lat, lng in zip(LATS[:2], LNGS)]
NAN = float("nan")


def arrays(values):
    return np.array([NAN if each is None else each for each in values])


def columns(values):
    """The same values as a column of each kind."""
    return {
        "list": values,
        "tuple": tuple(values),
        "NumPy": arrays(values),
        "NumPy, strided": np.repeat(arrays(values), 2)[::2],
        "pandas": pd.Series(arrays(values), index=[7, 8, 9, 10]),
        "pandas, nullable": pd.Series(values, dtype="Float64"),
        "pandas, Arrow": pd.Series(values, dtype="double[pyarrow]"),
        "Polars": pl.Series(values),
        "Arrow": pa.array(values),
        "Arrow, slice": pa.array([5.0, *values, 6.0]).slice(1, 4),
        "Arrow, chunks": pa.chunked_array([values[:1], [], values[1:]], pa.float64()),
    }


def plain(column):
    """A column as a list, with None where there is no answer."""
    if isinstance(column, pd.Series):
        return [None if each is None or each is pd.NA or each != each else each for each in column.tolist()]
    if isinstance(column, (pa.Array, pa.ChunkedArray)):
        return column.to_pylist()
    if isinstance(column, pl.Series):
        return column.to_list()
    values = column.tolist() if isinstance(column, np.ndarray) else list(column)
    return [None if each in ("", 0) or each != each else each for each in values]


class Columns(unittest.TestCase):
    def test_every_kind_comes_back_as_it_came(self):
        lngs = columns(LNGS)
        for name, lat in columns(LATS).items():
            with self.subTest(name):
                kind = list if isinstance(lat, tuple) else type(lat) if not isinstance(lat, pa.Array) else pa.Array
                codes = hexcodes.encode(lat, lngs[name], 10)
                self.assertIsInstance(codes, kind)
                self.assertEqual(plain(codes), CODES)
                self.assertEqual(plain(hexcodes.cells(lat, lngs[name], 10))[:2], CELLS)
                self.assertEqual(plain(hexcodes.provinces(lat, lngs[name])), ["HN", "HCM", None, None])
                self.assertEqual(plain(hexcodes.former_provinces(lat, lngs[name])), ["Hà Nội", "TP.HCM", None, None])
                self.assertEqual([bool(each) for each in hexcodes.check(codes)], [True, True, False, False])
                if isinstance(lat, pd.Series):
                    self.assertTrue(codes.index.equals(lat.index))

    def test_decode_gives_frames(self):
        first = hexcodes.decode("HN-6GHP4-83J")
        for name, codes in {
            "NumPy": np.array(["HN-6GHP4-83J", "", "nope"]),
            "bytes": np.array([b"HN-6GHP4-83J", b"", b"nope"]),
            "objects": np.array(["HN-6GHP4-83J", None, 7], dtype=object),
            "pandas": pd.Series(["HN-6GHP4-83J", None, "nope"], index=[3, 4, 5]),
            "pandas, categories": pd.Series(["HN-6GHP4-83J", None, "nope"], dtype="category"),
            "Polars": pl.Series(["HN-6GHP4-83J", None, "nope"]),
            "Arrow": pa.array(["HN-6GHP4-83J", None, "nope"]),
            "Arrow, large": pa.array(["HN-6GHP4-83J", None, "nope"], pa.large_string()),
            "Arrow, views": pa.array(["HN-6GHP4-83J", None, "nope"], pa.string_view()),
            "Arrow, dictionary": pa.array(["HN-6GHP4-83J", None, "nope"]).dictionary_encode(),
            "Arrow, chunks": pa.chunked_array([["HN-6GHP4-83J"], [None, "nope"]]),
            "Arrow, slice": pa.array(["x", "HN-6GHP4-83J", None, "nope"]).slice(1),
        }.items():
            with self.subTest(name):
                answer = hexcodes.decode(codes)
                names = ("lat", "lng", "resolution", "admin_code", "cell")
                parts = answer if isinstance(answer, tuple) else [answer[each] for each in names]
                self.assertEqual([plain(part)[0] for part in parts], [getattr(first, each) for each in names])
                for part in (parts[0], parts[3], parts[4]):
                    self.assertEqual(plain(part)[1:], [None, None])
        empty = hexcodes.decode(np.array([], dtype="U5"))
        self.assertEqual(len(empty.lat), 0)
        self.assertEqual(hexcodes.decode(pa.array([], pa.string())).num_rows, 0)
        self.assertEqual(hexcodes.decode(pa.nulls(2)).num_rows, 2)

    def test_columns_decode_as_single_texts(self):
        random = np.random.default_rng(7)
        lat, lng = random.uniform(8, 23.5, 6000), random.uniform(102, 112, 6000)
        codes = [each for each in hexcodes.encode(lat, lng, random.integers(0, 16, 6000)).tolist() if each]
        for texts in (codes, [each.lower() for each in codes], [each.replace("-", "") for each in codes], [f"  {each}" for each in codes]):
            answer = hexcodes.decode(np.array(texts))
            singles = [hexcodes.decode(each) for each in texts]
            for name in ("lat", "lng", "resolution", "admin_code", "cell"):
                self.assertEqual(getattr(answer, name).tolist(), [getattr(each, name) for each in singles], name)

    def test_one_answer_is_a_named_tuple(self):
        one = hexcodes.decode("HN-6GHP4-83J")
        self.assertIsInstance(one, tuple)
        self.assertEqual(json.loads(json.dumps(one)), list(one))
        self.assertEqual(pickle.loads(pickle.dumps(one)), one)
        columns = ["lat", "lng", "resolution", "admin_code", "hexcodes", "cell"]
        self.assertEqual(list(pd.DataFrame([one, one]).columns), columns)

    def test_borders_of_columns(self):
        lats, lngs = [21.0757, 20.4463, 0.0, None], [105.9872, 106.3366, 0.0, 105.0]
        wanted = [hexcodes.borders(21.0757, 105.9872), hexcodes.borders(20.4463, 106.3366), None, None]
        self.assertEqual((wanted[0].border_m, wanted[0].certainty, wanted[0].neighbour_code), (297, 0.855, "HN"))
        self.assertEqual(hexcodes.borders(lats, lngs), wanted)
        for name, lat in columns(lats).items():
            answer = hexcodes.borders(lat, columns(lngs)[name])
            if isinstance(lat, (list, tuple)):
                self.assertEqual(answer, wanted)
                continue
            parts = (answer.border_m, answer.certainty) if isinstance(answer, tuple) else (answer["border_m"], answer["certainty"])
            self.assertEqual([plain(part) for part in parts], [[297, None, None, None], [0.855, 0.9999, None, None]], name)

    def test_points_and_polygons_of_geopandas(self):
        points = geopandas.GeoSeries([Point(105.8525, 21.0288), None, Point(), Point(0, 0).buffer(1)], crs=4326, index=[4, 5, 6, 7])
        codes = hexcodes.encode(points, resolution=10)
        self.assertEqual((plain(codes), codes.index.tolist()), (["HN-6GHP4-83J", None, None, None], [4, 5, 6, 7]))
        self.assertEqual(plain(hexcodes.provinces(points)), ["HN", None, None, None])
        cells = hexcodes.boundary(codes)
        self.assertEqual((cells.crs.to_epsg(), cells.index.tolist(), cells.isna().tolist()), (4326, [4, 5, 6, 7], [False, True, True, True]))
        self.assertTrue(cells.iloc[0].exterior.is_ccw and cells.iloc[0].contains(points.iloc[0]))
        texts = plain(codes)
        for kind in (texts, tuple(texts), pa.array(texts), pa.chunked_array([texts]), pl.Series(texts), np.array(texts, object)):
            self.assertEqual(hexcodes.boundary(kind).tolist(), cells.tolist())
        for given, text in (
            ((points.to_crs(32648),), "to_crs"), ((points, 9), "resolution=9"), (([21.0],), "two columns"),
        ):
            with self.assertRaisesRegex(HexcodesError, text):
                hexcodes.encode(*given)

    def test_cells_near_a_code(self):
        self.assertEqual(hexcodes.parent("hn6ghp4 83rfr", 10), "HN-6GHP4-83J")
        self.assertEqual({hexcodes.parent(each) for each in hexcodes.children("HN-6GHP4-83J")}, {"HN-6GHP4-83J"})
        self.assertEqual(len(hexcodes.children("HN-6GHP4-83J", 13)), 343)
        self.assertEqual((len(hexcodes.neighbors("HN-6GHP4-83RFR")), len(hexcodes.neighbors("HN-6GHP4-83RFR", 3))), (6, 36))
        for call in (
            lambda: hexcodes.parent("HN-6GHP4-83J", 11), lambda: hexcodes.parent("HN-62"), lambda: hexcodes.children("HN-6GHP4-83J", 9),
            lambda: hexcodes.children("HN-6GHP4-83RFR", 16), lambda: hexcodes.neighbors("HN-6GHP4-83J", 0), lambda: hexcodes.boundary(7), lambda: hexcodes.boundary("nope"),
        ):
            with self.assertRaises(HexcodesError):
                call()

    def test_texts_that_no_record_holds(self):
        texts = ["HN-6GHP4-83RFR\0x", "HN-6GHP4-83RFR      x", "  HN - 6GHP4 - 83RFR  ", "ＨＮ-6GHP4-83RFR", "x" * 10_000, "ĐN-6GHP4", "\ud83d", ""]
        wanted = [hexcodes.check(text) for text in texts]
        self.assertEqual(wanted[2:4], [True, True])
        arrow = pa.array([text if text.isprintable() or "\0" in text else "" for text in texts])
        self.assertEqual(hexcodes.check(texts), wanted)
        self.assertEqual(hexcodes.check(arrow).to_pylist(), wanted)
        self.assertEqual(hexcodes.check(np.array(texts)).tolist(), wanted)
        self.assertEqual(hexcodes.check(np.array(texts).astype(">U10000")).tolist(), wanted)
        self.assertEqual(hexcodes.check(np.array([b"HN-6GHP4-83RFR\0x", b"HN-6GHP4-83RFR"])).tolist(), [False, True])

    def test_each_row_its_resolution(self):
        lat, lng = np.full(16, 21.0288), np.full(16, 105.8525)
        wanted = [hexcodes.encode(21.0288, 105.8525, resolution) for resolution in range(16)]
        for resolutions in (list(range(16)), np.arange(16), np.arange(16, dtype=np.uint8), pd.Series(range(16)), pl.Series(range(16)), pa.array(range(16))):
            self.assertEqual(hexcodes.encode(lat, lng, resolutions).tolist(), wanted)

    def test_an_expression_of_polars(self):
        frame = pl.LazyFrame({"lat": LATS, "lng": LNGS})
        lat, lng = pl.col("lat"), pl.col("lng")
        answer = frame.select(a=hexcodes.encode(lat, lng, 10), b=hexcodes.cells(lat, lng, 10), c=hexcodes.provinces(lat, lng)).collect()
        self.assertEqual(answer["a"].to_list(), CODES)
        self.assertEqual(answer.dtypes, [pl.String, pl.UInt64, pl.String])
        resolutions = frame.with_columns(level=pl.Series([10, 9, 8, None])).select(hexcodes.encode(lat, lng, pl.col("level"))).collect()
        self.assertEqual(plain(resolutions["lat"]), [*hexcodes.encode(LATS[:2], LNGS[:2], [10, 9]), None, None])

    def test_one_call_of_the_kernel_a_batch(self):
        kernel = hexcodes.default.kernel
        for count, calls in ((0, 0), (1, 1), (4096, 1), (4097, 2), (40_960, 10)):
            lat, lng = np.full(count, 21.0288), np.full(count, 105.8525)
            for call in (hexcodes.encode, hexcodes.cells, hexcodes.provinces, hexcodes.former_provinces):
                before = kernel.calls
                answer = call(pa.array(lat), pa.array(lng))
                self.assertEqual((len(answer), kernel.calls - before), (count, calls))
            codes = pa.array(["HN-6GHP4-83J"] * count, pa.string())
            before = kernel.calls
            hexcodes.decode(codes)
            self.assertEqual(kernel.calls - before, 2 * calls)

    def test_more_than_one_batch_with_failures_anywhere(self):
        random = np.random.default_rng(38)
        lat, lng = random.uniform(8, 24, 20_000), random.uniform(102, 110, 20_000)
        lat[random.integers(0, 20_000, 50)] = NAN
        one_by_one = hexcodes.encode(lat, lng).tolist()
        self.assertEqual([each or "" for each in hexcodes.encode(pa.array(lat), pa.array(lng)).to_pylist()], one_by_one)
        for at in range(0, 20_000, 371):
            try:
                self.assertEqual(hexcodes.encode(lat[at], lng[at]), one_by_one[at])
            except HexcodesError:
                self.assertEqual(one_by_one[at], "")


    def test_a_bad_row_fails_alone(self):
        lat = [Decimal("21.0288"), None, "21.0288", "1e1", " 10.7769 ", "21,0288", "x", True, NAN, object(), "nan", "1_0", "٢١"]
        lng = [Decimal("105.8525"), 105.0, "105.8525", 107.0, "106.7009", *[105.8525] * 8]
        wanted = ["HN-6GHP4-83RFR", None, "HN-6GHP4-83RFR", None, None, *[None] * 8]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = hexcodes.encode(lat, lng)
            self.assertEqual(found[:4:2] + found[5:], wanted[:4:2] + wanted[5:])
            self.assertEqual(found[4], hexcodes.encode(10.7769, 106.7009))
            objects = hexcodes.encode(np.array(lat, dtype=object), np.array(lng, dtype=object))
            self.assertEqual([each or None for each in objects.tolist()], found)
            series = hexcodes.encode(pd.Series(lat, dtype=object), pd.Series(lng, dtype=object))
            self.assertEqual(plain(series), found)
            codes = ["HN-6GHP4-83RFR", 7, None, NAN, "\ud800", b"HN-6GHP4-83RFR", "hn6ghp4 83rfr"]
            for given in (codes, pd.Series(codes, dtype=object), np.array(codes, dtype=object)):
                answer = hexcodes.check(given)
                self.assertEqual(answer if isinstance(answer, list) else answer.tolist(), [True, *[False] * 5, True])

    def test_decimals_nulls_masks_and_texts_of_every_kind(self):
        decimals = [Decimal("21.0288"), Decimal("10.7769"), None]
        others = [Decimal("105.8525"), Decimal("106.7009"), Decimal(1)]
        texts, other_texts = ["21.0288", "10.7769", ""], ["105.8525", "106.7009", "1"]
        wanted = ["HN-6GHP4-83J", "HCM-GXC6M-PC9", None]
        masked = np.ma.array([21.0288, 10.7769, 21.0], mask=[0, 0, 1]), np.ma.array([105.8525, 106.7009, 105.8])
        for name, (lat, lng) in {
            "Arrow decimals": (pa.array(decimals), pa.array(others)),
            "pandas, Arrow decimals": tuple(pd.Series(each, dtype=pd.ArrowDtype(pa.decimal128(9, 4))) for each in (decimals, others)),
            "Polars decimals": (pl.Series(decimals, dtype=pl.Decimal(9, 4)), pl.Series(others, dtype=pl.Decimal(9, 4))),
            "objects": (pd.Series(decimals), pd.Series(others)),
            "NumPy texts": (np.array(texts), np.array(other_texts)),
            "Arrow texts": (pa.array(texts), pa.array(other_texts)),
            "pandas texts": (pd.Series(texts), pd.Series(other_texts)),
            "Polars texts": (pl.Series(texts), pl.Series(other_texts)),
            "masked": masked,
            "masked integers and floats": (np.ma.array([21.0288, 10.7769, 0]), np.ma.array([105.8525, 106.7009, 105.0], mask=[0, 0, 1])),
            "buffers": (array("d", [21.0288, 10.7769, 0]), memoryview(array("d", [105.8525, 106.7009, 1]))),
        }.items():
            with self.subTest(name):
                self.assertEqual(plain(hexcodes.encode(lat, lng, 10)), wanted)
        wide = pl.Series([21, 10, None], dtype=pl.Int128), pl.Series([105, 107, 1], dtype=pl.UInt128)
        self.assertEqual(plain(hexcodes.encode(*wide)), [*hexcodes.encode([21, 10], [105, 107]), None])
        self.assertEqual(plain(hexcodes.encode(pa.nulls(2), pa.nulls(2))), [None, None])
        self.assertEqual(plain(hexcodes.encode(pl.Series([None, None]), pl.Series([1.0, 2.0]))), [None, None])
        code = "HN-6GHP4-83J"
        for codes in (np.ma.array([code] * 3, mask=[0, 1, 0]), np.ma.array([code.encode()] * 3, mask=[0, 1, 0])):
            self.assertEqual(hexcodes.check(codes).tolist(), [True, False, True])
            self.assertEqual(hexcodes.decode(codes).admin_code.tolist(), ["HN", "", "HN"])
        self.assertEqual(hexcodes.check(array("u", "HN")).tolist(), [False, False])
        self.assertEqual(plain(hexcodes.encode(np.ma.array([21, 10], mask=[1, 0]), np.ma.array([105, 107]))), [None, plain(hexcodes.encode([10], [107]))[0]])

    def test_a_resolution_that_is_none_fails_its_row(self):
        lat, lng = np.full(5, 21.0288), np.full(5, 105.8525)
        wanted = [hexcodes.encode(21.0288, 105.8525, 3), "", "", hexcodes.encode(21.0288, 105.8525, 15), ""]
        masked = np.ma.array([3, 3, 3, 15, 3], mask=[0, 1, 1, 0, 1])
        single, buffer = np.array([3, NAN, 99, 15, -1], np.float32), array("b", [3, 16, 99, 15, -1])
        for resolutions in ([3, 16, None, 15, -1], np.array([3, 16, 99, 15, -1]), np.array([3, 3.5, NAN, 15, 300]), masked, single, buffer, memoryview(buffer)):
            self.assertEqual(hexcodes.encode(lat, lng, resolutions).tolist(), wanted)

    def test_exchanged_and_projected_columns_are_said(self):
        lat, lng = np.array([NAN, 21.0288, 10.7769]), np.array([1.0, 105.8525, 106.7009])
        for call in (hexcodes.encode, hexcodes.cells):
            for kind in (list, np.array, pa.array, pd.Series, pl.Series):
                with self.subTest(call=call.__name__, kind=kind), self.assertWarnsRegex(UserWarning, "look swapped"):
                    call(kind(lng), kind(lat))
        with self.assertWarnsRegex(UserWarning, "metres of a projection"):
            hexcodes.encode(np.array([2326123.5, 1.2e6]), np.array([587123.4, 6.8e5]))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            hexcodes.encode(lat, lng)
            hexcodes.encode(np.array([48.8, NAN]), np.array([2.3, 1.0]))
            hexcodes.encode(np.array([]), np.array([]))

    def test_the_package_in_a_zip(self):
        home = Path(hexcodes.__file__).parent
        with tempfile.TemporaryDirectory() as folder:
            zipped = Path(folder) / "hexcodes.zip"
            with zipfile.ZipFile(zipped, "w") as writer:
                for path in home.rglob("*"):
                    if path.is_file() and "__pycache__" not in path.parts:
                        writer.write(path, path.relative_to(home.parent))
            ran = subprocess.run([sys.executable, "-c", "import hexcodes; print(hexcodes.__file__, hexcodes.encode(21.0288, 105.8525))"], cwd=folder, env={"PYTHONPATH": str(zipped)}, capture_output=True, text=True)
            self.assertIn("hexcodes.zip", ran.stdout, ran.stderr)
            self.assertTrue(ran.stdout.endswith(" HN-6GHP4-83RFR\n"))


class Refusals(unittest.TestCase):
    def refused(self, code, words, call, *args):
        with self.assertRaises(HexcodesError) as caught:
            call(*args)
        self.assertEqual(caught.exception.code, code, str(caught.exception))
        self.assertIn(words, str(caught.exception))
        self.assertEqual(str(pickle.loads(pickle.dumps(caught.exception))), str(caught.exception))

    def test_single_positions(self):
        encode = hexcodes.encode
        self.refused("OUTSIDE_COVERAGE", "lat 0, lng 0", encode, 0, 0)
        self.refused("NOT_A_COORDINATE", "look swapped", encode, 105.8525, 21.0288)
        self.refused("NOT_A_COORDINATE", "nan", encode, NAN, 105)
        for value in ("21.0288", b"21", None, True, [], {}, object(), 1j, np.True_):
            with self.subTest(value=value):
                is_column = isinstance(value, list)
                self.refused("BAD_ARGUMENT" if is_column else "NOT_A_COORDINATE", "lng" if is_column else "lat and lng", encode, value, 105.8525)
        for value in (-1, 16, 7.5, "7", None, True, 10**30):
            self.refused("BAD_RESOLUTION", "0 to 15", encode, 21.0288, 105.8525, value)
        self.refused("NOT_A_COORDINATE", "lat and lng", encode, np.complex128(21), 105.8525)
        for single in (np.float32, np.float16):
            for call in (encode, hexcodes.cells, hexcodes.provinces, hexcodes.borders):
                self.refused("BAD_ARGUMENT", single.__name__, call, 21.0288, single(105.8525))
                self.refused("BAD_ARGUMENT", single.__name__, call, [21, single(21.0288)], [105, 105.8525])
        self.assertEqual(encode(np.float64(21.0288), np.int64(105)), encode(21.0288, 105.0))

    def test_columns(self):
        encode, lat = hexcodes.encode, np.array([21.0288, 10.7])
        self.refused("BAD_ARGUMENT", "as many rows", encode, lat, lat[:1])
        self.refused("BAD_ARGUMENT", "one value", encode, lat, 105.8)
        self.refused("BAD_ARGUMENT", "lat is a column", encode, 21.0, lat)
        self.refused("BAD_ARGUMENT", "not as list", encode, lat, [1.0, 2.0])
        self.refused("BAD_ARGUMENT", "float32", encode, lat.astype(np.float32), lat)
        self.refused("BAD_ARGUMENT", "float32", encode, pa.array(lat, pa.float32()), pa.array(lat))
        self.refused("BAD_ARGUMENT", "float32", encode, pd.Series(lat, dtype="float[pyarrow]"), pd.Series(lat))
        self.refused("BAD_ARGUMENT", "float32", encode, pl.Series(lat, dtype=pl.Float32), pl.Series(lat))
        self.refused("BAD_ARGUMENT", "float16", encode, pd.Series(lat, dtype=pd.ArrowDtype(pa.float16())), pd.Series(lat))
        self.refused("BAD_ARGUMENT", "float32", encode, np.array([np.float32(21), 10.7], object), lat)
        self.refused("BAD_ARGUMENT", "numbers in degrees", encode, np.array([True, False]), lat)
        self.refused("BAD_ARGUMENT", "one dimension", encode, np.ones((2, 2)), np.ones((2, 2)))
        self.refused("BAD_ARGUMENT", "index", encode, pd.Series(lat), pd.Series(lat, index=[1, 2]))
        self.refused("BAD_ARGUMENT", "resolution has the index", encode, pd.Series(lat), pd.Series(lat), pd.Series([3, 4], index=[1, 0]))
        self.refused("BAD_RESOLUTION", "2 integers", encode, lat, lat, [3])
        frames = pd.DataFrame({"a": lat}), pl.DataFrame({"a": lat}), pa.table({"a": lat}), pa.record_batch({"a": lat}), pa.array([{"a": 1}, {"a": 2}])
        for frame in frames:
            self.refused("BAD_ARGUMENT", "one column", encode, frame, frame)
        column = pl.col("a")
        self.refused("BAD_ARGUMENT", "lng is an expression", encode, column, 105.8)
        self.refused("BAD_ARGUMENT", "resolution is an expression", encode, column, column, [3, 4])
        self.refused("BAD_RESOLUTION", "0 to 15", encode, column, column, 16)
        for call in (hexcodes.decode, hexcodes.check, hexcodes.boundary):
            self.refused("BAD_ARGUMENT", "expression", call, column)
        self.refused("BAD_ARGUMENT", "code has texts, not int64", hexcodes.decode, pa.array([1]))
        for value in (7, None, b"HN-6GHP4-83RFR", object()):
            self.assertEqual((hexcodes.decode(value), hexcodes.check(value)), (None, False))
        self.refused("BAD_ARGUMENT", "text", hexcodes.suggest, 7)
        for near in ((1,), (105.8525, 21.0288), (NAN, 1), "21", ("21", "105"), 5):
            self.refused("NOT_A_COORDINATE", "near", hexcodes.suggest, "HN", near)
        for limit in (1.5, None, "3"):
            self.refused("BAD_ARGUMENT", "limit", hexcodes.suggest, "HN", None, limit)

    def test_files(self):
        wasm, index, reach = ((DATA / name).read_bytes() for name in ("kernel.wasm", "index.bin", "reach.bin"))
        damaged = bytearray(index)
        damaged[-1] ^= 1
        self.refused("BAD_DATA", "The kernel cannot be used: ", Hexcodes, b"")
        self.refused("BAD_DATA", "no export memory", Hexcodes, b"\0asm\1\0\0\0")
        self.refused("BAD_DATA", "it has no export locateBatch", Hexcodes, wasm.replace(b"locateBatch", b"locateBatcx"))
        at = wasm.index(b"\x7f\0\x41\1\x0b")
        self.refused("BAD_DATA", "it has version 2 of the kernel's interface", Hexcodes, wasm[: at + 3] + b"\2" + wasm[at + 4 :])
        self.refused("BAD_DATA", "The boundary index cannot be used: the checksum", Hexcodes, None, bytes(damaged))
        self.refused("BAD_DATA", "The boundary index cannot be used: the file is cut short", Hexcodes, None, index[:-1])
        self.refused("BAD_DATA", "The boundary index cannot be used", Hexcodes, None, b"")
        for source in ("/nothing/here", str(DATA), 5, np.zeros(4, np.uint8)):
            self.refused("BAD_DATA", "The boundary index cannot be used: ", Hexcodes, None, source)
        self.refused("BAD_DATA", "larger than 64 MiB", Hexcodes, None, bytes(65 << 20))
        self.refused("BAD_DATA", "The reach cannot be used: this is not", Hexcodes, None, None, b"")
        self.refused("BAD_DATA", "The reach cannot be used: the checksum", Hexcodes, None, None, reach[:40] + bytes([reach[40] ^ 1]) + reach[41:])

    def test_boundaries_whose_63_units_are_others_have_no_former_provinces(self):
        index = bytearray((DATA / "index.bin").read_bytes())
        at, size = struct.unpack_from("<II", index, 48)
        meta = bytes(index[at : at + size])
        self.assertEqual(Hexcodes(index=bytes(index)).former_provinces(20.4463, 106.3366), "Thái Bình")
        # Another name, a number for one, and the province of today that is another.
        changes = (('"Hà Giang"', '"Hà Giank"'), ('"Hà Giang"', "12345678901"), ('"Hà Giang","admin":0', '"Hà Giang","admin":1'))
        for before, after in changes:
            other = meta.replace(before.encode(), after.encode(), 1)
            self.assertEqual((len(other), other != meta), (size, True))
            index[at : at + size] = other
            struct.pack_into("<I", index, 12, zlib.crc32(index[16:]))
            changed = Hexcodes(index=bytes(index))
            self.refused("BAD_DATA", "no provinces from before July 2025", changed.former_provinces, 20.4463, 106.3366)

    def test_a_changed_byte_of_an_installed_file(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "hexcodes"
            import shutil

            shutil.copytree(Path(hexcodes.__file__).parent, copy)
            for name, what in (("kernel.wasm", "kernel"), ("index.bin", "boundary index"), ("reach.bin", "reach")):
                content = bytearray((DATA / name).read_bytes())
                content[len(content) // 2] ^= 1
                (copy / "data" / name).write_bytes(content)
                ran = subprocess.run([sys.executable, "-c", "import hexcodes; hexcodes.encode(21.0288, 105.8525)"], cwd=folder, env={"PYTHONPATH": folder}, capture_output=True, text=True)
                self.assertIn(f"The {what} cannot be used: {name} of the package was changed", ran.stderr)
                (copy / "data" / name).write_bytes((DATA / name).read_bytes())


def codes_of(instance, count):
    random = np.random.default_rng(count)
    return instance.encode(random.uniform(8, 24, count), random.uniform(102, 110, count)).tolist()


class Elsewhere(unittest.TestCase):
    def test_threads_share_nothing(self):
        wanted = [codes_of(hexcodes.default, 5000 + n) for n in range(8)]
        kernels = set()

        def work(n):
            answers = [codes_of(hexcodes.default, 5000 + n) for _ in range(5)]
            kernels.add(id(hexcodes.default.kernel))
            barrier.wait(60)
            return all(answer == wanted[n] for answer in answers)

        barrier = threading.Barrier(8)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            self.assertTrue(all(pool.map(work, range(8))))
        self.assertEqual(len(kernels), 8)

    def test_pickles_into_processes(self):
        own = Hexcodes(index=DATA / "index.bin")
        own.encode(21.0288, 105.8525)
        for method in ("spawn", "fork"):
            with self.subTest(method), multiprocessing.get_context(method).Pool(2) as pool:
                found = pool.starmap(codes_of, [(own, 3000), (hexcodes.default, 3001)])
                self.assertEqual(found, [codes_of(own, 3000), codes_of(own, 3001)])
                self.assertEqual(pool.starmap(hexcodes.encode, [(21.0288, 105.8525)]), ["HN-6GHP4-83RFR"])

    def test_a_fork_while_another_thread_loads_the_files(self):
        script = """if True:
            import os, signal, threading, hexcodes
            from hexcodes import _library
            load, begun = _library._loaded, threading.Event()
            _library._loaded = lambda given: (begun.set(), threading.Event().wait())
            threading.Thread(target=hexcodes.encode, args=(21.0288, 105.8525), daemon=True).start()
            begun.wait()
            child = os.fork()
            if child == 0:
                _library._loaded = load
                signal.alarm(30)
                os.write(1, hexcodes.encode(21.0288, 105.8525).encode())
                os._exit(0)
            os._exit(os.waitpid(child, 0)[1])
        """
        ran = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True)
        self.assertEqual((ran.stdout, ran.stderr), ("HN-6GHP4-83RFR", ""))

    def test_no_child_process_and_no_network(self):
        script = """
import sys
seen = []
sys.addaudithook(lambda name, args: seen.append(name) if name.startswith(("socket.", "subprocess.", "os.fork", "os.exec", "os.posix_spawn", "os.system")) else None)
import hexcodes, numpy, pyarrow, polars, pandas
# Packages may look round as they are imported; an encode may not.
seen.clear()
lat, lng = numpy.full(5000, 21.0288), numpy.full(5000, 105.8525)
hexcodes.encode(21.0288, 105.8525)
for kind in (list, numpy.array, pyarrow.array, polars.Series, pandas.Series):
    hexcodes.decode(hexcodes.encode(kind(lat), kind(lng)))
print(seen)
"""
        ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        self.assertEqual((ran.stdout, ran.returncode), ("[]\n", 0), ran.stderr)

    def test_single_calls_import_no_numpy(self):
        ran = subprocess.run([sys.executable, "-c", "import sys, hexcodes; hexcodes.encode(21.0288, 105.8525); print('numpy' in sys.modules)"], capture_output=True, text=True)
        self.assertEqual(ran.stdout, "False\n", ran.stderr)

    def test_releases_of_wasmtime_without_its_inner_interface(self):
        direct = _kernel._direct
        try:
            _kernel._direct = lambda *_: (_ for _ in ()).throw(ImportError())
            other = Hexcodes(index=DATA / "index.bin")
            self.assertEqual(codes_of(other, 2000), codes_of(hexcodes.default, 2000))
            self.assertEqual(other.decode("hn6ghp4 83rfr"), hexcodes.decode("HN-6GHP4-83RFR"))
        finally:
            _kernel._direct = direct

    def test_the_client_is_there(self):
        client = importlib.import_module("hexcodes.client")
        with self.assertRaises(ValueError):
            client.HexcodesClient("no address")

    def test_suggestions(self):
        first, *_ = hexcodes.suggest("HN-6GHP4-B3RFR", near=(21.03, 105.85))
        self.assertEqual((first.hexcodes, first.slip, round(first.distance_m)), ("HN-6GHP4-83RFR", "twin", 289))
        self.assertEqual(hexcodes.suggest("x" * 65), [])


if __name__ == "__main__":
    unittest.main()
