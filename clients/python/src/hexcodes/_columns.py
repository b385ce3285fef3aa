"""Columns of many kinds: lists, NumPy, pandas, Polars and Arrow, as float64 arrays and records for the kernel, and back.

No row becomes a Python object but those of lists, and texts that are not plain ASCII of at most 19 characters.
"""

from __future__ import annotations

import re
import warnings
from array import array
from typing import Any, Callable, List, Optional, Tuple

import numpy as np

from ._errors import HexcodesError
from ._kernel import FAR, RECORD_BYTES, Bands
from ._views import Positions, Texts

LIST, NUMPY, PANDAS, POLARS, ARROW, CHUNKED, EXPRESSION = "list", "NumPy", "pandas", "Polars", "Arrow", "Arrow chunked", "Polars expression"

#: Bytes of a text that fits a record.
_MAX_BYTES = RECORD_BYTES - 1
_MAX_INT32 = 2**31 - 1
#: Types of pandas, in lower case, that hold less than float64 does.
_SINGLE = ("float32", "float16", "float[pyarrow]", "halffloat[pyarrow]")
#: A decimal number as files and databases write it.
_DECIMAL = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)


def kind_of(column: Any) -> Optional[str]:
    """The kind of a column; None for a single value."""
    if isinstance(column, (list, tuple)):
        return LIST
    if isinstance(column, np.ndarray):
        return NUMPY if column.ndim > 0 else None
    if isinstance(column, (array, memoryview)):
        return NUMPY
    home = type(column).__module__.split(".")[0]
    name = type(column).__name__
    if home == "pandas" and name == "Series":
        return PANDAS
    if home == "polars" and name in ("Series", "Expr"):
        return POLARS if name == "Series" else EXPRESSION
    if home == "pyarrow" and name == "ChunkedArray":
        return CHUNKED
    if home == "pyarrow" and hasattr(column, "buffers"):
        return ARROW
    if hasattr(column, "__arrow_c_array__"):
        return ARROW
    if hasattr(column, "__arrow_c_stream__"):
        return CHUNKED
    return None


def text_kind_of(column: Any) -> Optional[str]:
    """The kind of a column of codes; None for a single value."""
    kind = kind_of(column)
    if kind == EXPRESSION:
        raise _wrong("code", "is a Series of Polars, not an expression")
    return kind


def numbers_of(column: Any, name: str) -> np.ndarray:
    """A column of numbers as float64 or narrower, contiguous or not; NaN where a value is missing, masked or no number.

    Numbers are integers, float64, Decimal and decimal texts.
    """
    kind = kind_of(column)
    if kind == NUMPY:
        values = _unmasked(column) if isinstance(column, np.ma.MaskedArray) else np.asarray(column)
    elif kind == LIST:
        values = _from_values(column)
    elif kind in (PANDAS, POLARS):
        values = _from_series(column, kind)
    else:
        values = _from_arrow(_arrow(column), kind, name)
    if values.dtype.kind in "OUS":
        values = _from_values(values.tolist())
    if values.ndim != 1:
        raise _wrong(name, f"has one dimension, not the shape {values.shape}")
    if values.dtype.kind not in "fiu":
        raise _wrong(name, f"has numbers in degrees, not {values.dtype}: convert it, as by astype(float)")
    return values


def _degrees_of(column: Any, name: str) -> np.ndarray:
    values = numbers_of(column, name)
    if values.dtype == np.float32 or values.dtype == np.float16:
        raise _wrong(name, f"is {values.dtype}, which moves a position by metres: convert it to float64 where that is meant")
    return values if values.dtype == np.float64 else values.astype(np.float64)


def _from_values(column: Any) -> np.ndarray:
    """Values of Python as float64: numbers, Decimal and decimal texts; every other value is NaN and fails its row alone.

    With a value of single precision all of them have it, to be refused.
    """
    narrow = next((each.dtype for each in column if isinstance(each, np.floating) and each.itemsize < 8), np.float64)
    return np.array([_number(each) for each in column], narrow)


def _number(value: Any) -> float:
    if isinstance(value, (bool, np.bool_, np.complexfloating)) or value is None:
        return np.nan
    if isinstance(value, (str, bytes)):
        text = value if isinstance(value, str) else value.decode("latin-1")
        return float(text) if _DECIMAL.fullmatch(text) else np.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def _unmasked(column: Any) -> np.ndarray:
    """The values of a masked array, NaN where the mask is set. Single precision stays as it is, to be refused."""
    if column.dtype.kind not in "iu":
        return np.asarray(column.filled(np.nan) if column.dtype.kind == "f" else column.astype(object).filled(None))
    return np.asarray(column.astype(np.float64).filled(np.nan))


def _from_arrow(column: Any, kind: Optional[str], name: str) -> np.ndarray:
    import pyarrow as pa

    if pa.types.is_struct(column.type):
        raise _wrong(name, f"is one column, not a table or {column.type}")
    if pa.types.is_null(column.type):
        return np.full(len(column), np.nan)
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    return np.asarray(column.to_numpy(**({"zero_copy_only": False} if kind == ARROW else {})))


def _from_series(column: Any, kind: str) -> np.ndarray:
    if kind == PANDAS:
        dtype = column.dtype
        if getattr(dtype, "kind", "O") in "fiu" and str(dtype).lower() not in _SINGLE:
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
        if str(dtype).startswith("decimal"):
            return np.asarray(column.to_numpy(dtype=object))
        values = np.asarray(column.to_numpy())
        return values if values.dtype != object else np.array(values, dtype=object)
    if str(column.dtype).startswith(("Decimal", "Null", "Int128", "UInt128")):
        import polars

        return np.asarray(column.cast(polars.Float64).to_numpy())
    return np.asarray(column.to_numpy())


def points_of(lat: Any, lng: Any, kind: str) -> Tuple[np.ndarray, np.ndarray]:
    """Two columns of degrees of one kind and length."""
    if kind_of(lng) != kind:
        other = kind_of(lng)
        raise _wrong("lng", f"comes as lat does, as {kind}, not as {other or 'one value'}")
    if kind == PANDAS and not lat.index.equals(lng.index):
        raise _wrong("lng", "has the index of lat: reset both, or take them from one frame")
    points = _degrees_of(lat, "lat"), _degrees_of(lng, "lng")
    if len(points[0]) != len(points[1]):
        raise _wrong("lng", f"has as many rows as lat: {len(points[1])}, not {len(points[0])}")
    return points


def resolutions_of(given: Any, count: int) -> Tuple[Any, Optional[np.ndarray]]:
    """A resolution for all points, or uint8 for each; and which rows have none that is an integer from 0 to 15, if any."""
    if kind_of(given) is None:
        return resolution_of(given), None
    values = numbers_of(given, "resolution")
    if values.shape != (count,):
        raise HexcodesError("BAD_RESOLUTION", f"Resolutions are {count} integers from 0 to 15, not {values.dtype} of shape {values.shape}")
    wrong = ~((values >= 0) & (values <= 15) & (values == np.floor(values)))
    if not wrong.any():
        return values.astype(np.uint8), None
    return np.where(wrong, 0, values).astype(np.uint8), wrong


def resolution_of(given: Any) -> int:
    """One resolution."""
    integer = isinstance(given, (int, np.integer)) and not isinstance(given, (bool, np.bool_))
    if not integer or not 0 <= given <= 15:
        raise HexcodesError("BAD_RESOLUTION", f"A resolution is an integer from 0 to 15, not {given!r}")
    return int(given)


def warn_if_exchanged(points: Tuple[np.ndarray, np.ndarray], none: np.ndarray, has_province: Callable[[float, float], bool]) -> None:
    """Warns where no row of columns has an answer, and the first one shows why: exchanged columns, or metres of a projection.

    none is true for rows without an answer.
    """
    lat, lng = points
    known = np.flatnonzero(np.isfinite(lat) & np.isfinite(lng))
    if len(known) == 0 or not none.all():
        return
    first_lat, first_lng = float(lat[known[0]]), float(lng[known[0]])
    if abs(first_lng) <= 90 and abs(first_lat) <= 180 and has_province(first_lng, first_lat):
        warnings.warn("no row has a hexcode: lat and lng look swapped", UserWarning, stacklevel=4)
    elif (np.abs(lat[known]) > 180).all() and (np.abs(lng[known]) > 180).all():
        warnings.warn("no row has a hexcode: these look like metres of a projection, not degrees of WGS 84", UserWarning, stacklevel=4)


# Answers


def text_column(texts: Texts, like: Any, kind: str, name: str) -> Any:
    """Texts as a column of the kind of `like`: pandas, Polars or Arrow."""
    import pyarrow as pa

    count = len(texts.ends) - 1
    large = len(texts.data) > _MAX_INT32
    ends = texts.ends if large else texts.ends.astype(np.int32)
    bits = None if texts.valid is None else pa.py_buffer(np.packbits(texts.valid, bitorder="little"))
    buffers = [bits, pa.py_buffer(ends), pa.py_buffer(texts.data)]
    array = pa.Array.from_buffers(pa.large_string() if large else pa.string(), count, buffers)
    return column_of(array, like, kind, name)


def column_of(array: Any, like: Any, kind: str, name: str) -> Any:
    """An Arrow array as a column of the kind of `like`."""
    if kind == ARROW:
        return array
    if kind == CHUNKED:
        import pyarrow as pa

        return pa.chunked_array([array])
    if kind == POLARS:
        import polars

        return polars.Series(name, array)
    import pandas
    import pyarrow as pa

    if array.type == pa.string() or array.type == pa.large_string():
        values = pandas.array(array, dtype="string[pyarrow]") if hasattr(pandas, "StringDtype") else array
    else:
        values = pandas.arrays.ArrowExtensionArray(pa.chunked_array([array]))
    return pandas.Series(values, index=like.index, name=name)


def words_column(numbers: np.ndarray, words: List[str], like: Any, kind: str, name: str) -> Any:
    """Numbers as the words that they number; a number beyond the words has none."""
    if kind in (LIST, NUMPY):
        table = np.array([*words, ""])
        found = table[np.minimum(numbers, len(words))]
        return [each or None for each in found.tolist()] if kind == LIST else found
    import pyarrow as pa

    indices = pa.array(numbers.astype(np.int16), mask=numbers >= len(words))
    return column_of(pa.DictionaryArray.from_arrays(indices, pa.array(words)).cast(pa.string()), like, kind, name)


def value_column(values: np.ndarray, valid: Optional[np.ndarray], like: Any, kind: str, name: str) -> Any:
    """Numbers or truths as a column; where `valid` is false a row is missing. NumPy has the values as they are."""
    if kind == NUMPY:
        return values
    if kind == LIST:
        rows = values.tolist()
        return rows if valid is None else [each if ok else None for each, ok in zip(rows, valid.tolist())]
    import pyarrow as pa

    return column_of(pa.array(values, mask=None if valid is None else ~valid), like, kind, name)


def position_columns(answer: Positions, codes: List[str], like: Any, kind: str) -> Any:
    """Positions as a frame or batch with lat, lng, resolution, admin_code and cell."""
    import pyarrow as pa

    parts = {"lat": answer.lat, "lng": answer.lng, "resolution": answer.resolution}
    arrays = {name: pa.array(values, mask=~answer.valid) for name, values in parts.items()}
    arrays["admin_code"] = words_column(answer.admin, codes, like, ARROW, "")
    arrays["cell"] = pa.array(answer.cell, mask=~answer.valid)
    return frame_of(arrays, like, kind)


def frame_of(arrays: Any, like: Any, kind: str) -> Any:
    """Arrays of Arrow by their names as a frame, batch or table."""
    import pyarrow as pa

    if kind == ARROW:
        return pa.RecordBatch.from_arrays(list(arrays.values()), names=list(arrays))
    if kind == CHUNKED:
        return pa.table(arrays)
    if kind == POLARS:
        import polars

        return polars.DataFrame([polars.Series(name, array) for name, array in arrays.items()])
    import pandas

    return pandas.DataFrame({name: column_of(array, like, kind, name) for name, array in arrays.items()})


def border_columns(metres: np.ndarray, inside: np.ndarray, bands: Bands, like: Any, kind: str, border: Any) -> Any:
    """Distances to borders and certainty: a `Border` for NumPy, else a frame or batch."""
    known = inside & (metres != FAR)
    shares = np.full(len(metres), np.nan)
    if bands:
        band = np.searchsorted(np.array([below for below, _ in bands]), metres, side="right")
        shares = np.where(inside, np.array([share for _, share in bands])[band], np.nan)
    if kind == NUMPY:
        return border(np.where(known, metres, np.nan), shares, None)
    import pyarrow as pa

    arrays = {"border_m": pa.array(metres, mask=~known), "certainty": pa.array(shares, mask=np.isnan(shares))}
    return frame_of(arrays, like, kind)


# Geometries


def is_geo(column: Any) -> bool:
    """Whether a column is a GeoSeries."""
    return type(column).__name__ == "GeoSeries" and type(column).__module__.split(".")[0] == "geopandas"


def points_of_geo(points: Any, lng: Any) -> Tuple[Any, Any]:
    """Latitudes and longitudes of a GeoSeries as Series; NaN for an empty point, a missing one and every other geometry."""
    import pandas
    import shapely

    if lng is not None:
        raise _wrong("lng", f"is in the GeoSeries already, not {lng!r}: name the resolution, as in resolution=9")
    if points.crs is not None and not points.crs.equals("EPSG:4326", ignore_axis_order=True):
        raise _wrong("a GeoSeries", f"is in WGS 84, not {points.crs.name}: convert it by to_crs(4326)")
    geometries = np.array(points.to_numpy(), dtype=object)
    are_points = (shapely.get_type_id(geometries) == shapely.GeometryType.POINT) & ~shapely.is_empty(geometries)
    lat, lng = np.full(len(geometries), np.nan), np.full(len(geometries), np.nan)
    lat[are_points], lng[are_points] = shapely.get_y(geometries[are_points]), shapely.get_x(geometries[are_points])
    return pandas.Series(lat, index=points.index), pandas.Series(lng, index=points.index)


# Texts


def records_of(column: Any, kind: str) -> Tuple[np.ndarray, List[int], Callable[[int], Optional[str]]]:
    """A column of texts as records, the rows that no record holds as they are, and how to get the text of a row."""
    if kind == NUMPY:
        is_masked = isinstance(column, np.ma.MaskedArray) and column.dtype.kind in "US"
        column = column.filled(column.dtype.type()) if is_masked else column if isinstance(column, np.ndarray) else np.asarray(column)
        if column.ndim != 1:
            raise _wrong("code", f"has one dimension, not the shape {column.shape}")
        if column.dtype.kind in "US":
            return _records_of_numpy(column)
    if kind == LIST or kind == NUMPY:
        return _records_of_list(column.tolist() if kind == NUMPY else column)
    return _records_of_arrow(column, kind)


def _records_of_numpy(column: np.ndarray) -> Tuple[np.ndarray, List[int], Callable[[int], Optional[str]]]:
    count = len(column)
    records = np.zeros((count, RECORD_BYTES), np.uint8)
    if column.dtype.itemsize == 0 or count == 0:
        return records, [], lambda row: ""
    column = np.ascontiguousarray(column)
    units: Any
    if column.dtype.kind == "S":
        units = column.view(np.uint8).reshape(count, -1)
    else:
        if not column.dtype.isnative:
            column = column.astype(column.dtype.newbyteorder("="))
        units = column.view(np.uint32).reshape(count, -1)
    size = min(units.shape[1], _MAX_BYTES)
    records[:, :size] = units[:, :size]
    # A text of a longer column fits if all after its nineteenth character is padding; a NUL inside it is not padding.
    other = (units > 127).any(axis=1) | (units[:, _MAX_BYTES:] != 0).any(axis=1)
    other |= (records != 0).sum(axis=1) != np.strings.str_len(column)
    rows = np.flatnonzero(other)
    records[rows] = 0

    def text(row: int) -> Optional[str]:
        value = column[row]
        return value.decode("latin-1") if isinstance(value, bytes) else str(value)

    return records, rows.tolist(), text


def _records_of_list(column: Any) -> Tuple[np.ndarray, List[int], Callable[[int], Optional[str]]]:
    parts = []
    others = []
    for row, text in enumerate(column):
        if isinstance(text, str) and len(text) <= _MAX_BYTES and text.isascii() and "\0" not in text:
            parts.append(text.encode("ascii").ljust(RECORD_BYTES, b"\0"))
        else:
            parts.append(bytes(RECORD_BYTES))
            if isinstance(text, str):
                others.append(row)
    records = np.frombuffer(b"".join(parts), np.uint8).reshape(len(parts), RECORD_BYTES)
    return records, others, lambda row: column[row]


def _records_of_arrow(column: Any, kind: str) -> Tuple[np.ndarray, List[int], Callable[[int], Optional[str]]]:
    import pyarrow as pa
    import pyarrow.compute

    pc: Any = pyarrow.compute
    if kind == PANDAS:
        try:
            array = pa.Array.from_pandas(column)
        except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeError):
            # Objects of several types, of which those that are no text fail alone.
            return _records_of_list(column.tolist())
    elif kind == POLARS:
        array = column.to_arrow()
    else:
        array = _arrow(column)
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
        if isinstance(array, pa.ChunkedArray):
            array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_null(array.type):
        return np.zeros((len(array), RECORD_BYTES), np.uint8), [], lambda row: None
    text_types = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    if not any(is_type(array.type) for is_type in text_types):
        raise _wrong("code", f"has texts, not {array.type}")
    array = array.cast(pa.large_string())
    sizes = pc.binary_length(array)
    fits = pc.fill_null(pc.less_equal(sizes, _MAX_BYTES), False)
    short = pc.if_else(fits, array, "")
    padded = pc.ascii_rpad(short, RECORD_BYTES, "\0")
    _, ends, data = padded.buffers()
    start = np.frombuffer(ends, np.int64, 1, 8 * padded.offset)[0] if len(padded) else 0
    records = np.frombuffer(data or b"", np.uint8, RECORD_BYTES * len(padded), start).reshape(-1, RECORD_BYTES)
    kept = np.where(np.asarray(fits), np.asarray(pc.fill_null(sizes, 0)), 0)
    other = (np.asarray(pc.is_valid(array)) & ~np.asarray(fits)) | ((records != 0).sum(axis=1) != kept) | (records > 127).any(axis=1)
    rows = np.flatnonzero(other)
    if len(rows):
        records = records.copy()
        records[rows] = 0
    return records, rows.tolist(), lambda row: array[row].as_py()


def _arrow(column: Any) -> Any:
    import pyarrow as pa

    if isinstance(column, (pa.Array, pa.ChunkedArray)):
        return column
    return pa.array(column) if hasattr(column, "__arrow_c_array__") else pa.chunked_array(column)


def _wrong(name: str, rule: str) -> HexcodesError:
    return HexcodesError("BAD_ARGUMENT", f"{name} {rule}")
