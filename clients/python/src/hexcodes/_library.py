"""Positions to hexcodes and back, in this process: no service, no child process, no network."""

from __future__ import annotations

import hashlib
import os
import threading
from importlib.resources import files
from pathlib import Path
from struct import error as struct_error
from typing import Any, Callable, List, NamedTuple, Optional, Tuple, Type, Union

from ._errors import HexcodesError
from ._kernel import FAR, NONE, OK, Compiled, Decoded, Kernel
from ._kernel import compile_kernel, get_read, put_position, put_text
from ._units import CODES, FORMER

DEFAULT_RESOLUTION = 13
#: Also inside a zip, as Spark's --py-files ships it.
DATA = files("hexcodes").joinpath("data")
#: The provinces before July 2025, by the number of the one they are part of and their name.
_FORMER = {(admin, name) for admin, names in enumerate(FORMER) for name in names}
#: Files of the package, and what each is.
FILES = {"kernel.wasm": "kernel", "index.bin": "boundary index", "reach.bin": "reach"}
_SWAPPED_HINT = ". lat and lng look swapped: the other way round the position lies in Viet Nam"

#: Faster than Decoded(), which is a function in Python.
_new: Callable[[Type[Decoded], Tuple[Any, ...]], Decoded] = tuple.__new__
Source = Union[bytes, bytearray, memoryview, str, Path]


class DecodedColumns(NamedTuple):
    """What `decode` makes of a NumPy column: a row that is not a hexcode has NaN, NaN, 255, the empty text and 0."""

    lat: Any
    lng: Any
    resolution: Any
    admin_code: Any
    cell: Any


class Border(NamedTuple):
    """How sure the province of a position is. Of a NumPy column: float64 for each row, NaN for None, and no neighbour."""

    #: Whole metres to the nearest border between two provinces; None beyond 5 km.
    border_m: Any
    #: The share of positions so far from a border whose province is right, 0 to 1; None where the boundaries say none.
    certainty: Any
    #: The province behind that border, a code of PROVINCES; None beyond 5 km, and where sea or foreign land lies before the border.
    neighbour_code: Any


class Hexcodes:
    """A kernel with its boundaries. Threads share nothing but its compiled code, and an instance goes to other processes by pickle.

    Columns are lists and tuples, NumPy arrays, Series of pandas and Polars, arrays and chunked arrays of Arrow, and any other object that
    exports Arrow (`__arrow_c_array__`, `__arrow_c_stream__`); the answer is a column of the same kind. Numbers may be Decimal or decimal
    text. A row that is missing, masked, not a number, or has no resolution from 0 to 15 never fails the others: its answer is None, null or
    NaN, and in NumPy the empty text, 0 or 255. Where no row has an answer and lat and lng look swapped or projected, a warning says so. Degrees are WGS 84 and float64; resolutions are
    those of H3, 0 to 15.
    """

    def __init__(self, kernel: Optional[Source] = None, index: Optional[Source] = None, reach: Optional[Source] = None) -> None:
        """Uses other files than the package's, as paths or bytes: for example an index made from official boundaries.

        Raises HexcodesError BAD_DATA that says which of them cannot be used, and why.
        """
        self._given = tuple(bytes(each) if isinstance(each, (bytearray, memoryview)) else each for each in (kernel, index, reach))
        #: The kernel of a thread, and what single calls need of it, once the thread has asked for it.
        self._local = threading.local()
        self._lock = threading.Lock()
        self._loaded: Optional[Tuple[Compiled, bytes, bytes]] = None
        if any(each is not None for each in self._given):
            _ = self.kernel

    def __reduce__(self) -> Union[str, Tuple[Any, ...]]:
        return "default" if self is default else (Hexcodes, self._given)

    @property
    def kernel(self) -> Kernel:
        """The kernel of this thread."""
        try:
            return self._local.kernel  # type: ignore[no-any-return]
        except AttributeError:
            kernel = self._local.kernel = Kernel(*self._load())
            self._local.encoding, self._local.decoding = kernel.encoding, kernel.decoding
            return kernel

    def encode(self, lat: Any, lng: Any = None, resolution: Any = DEFAULT_RESOLUTION) -> Any:
        """The hexcode of a position, or of each row of two columns.

        lat is -90 to 90 and lng -180 to 180 degrees; resolution is one for all rows, or a column. Two expressions of Polars make one.

        Raises HexcodesError: BAD_RESOLUTION; for a single position OUTSIDE_COVERAGE (in no province) and NOT_A_COORDINATE; BAD_ARGUMENT
        for columns of different kinds, lengths or indexes, in single precision, or of another type than numbers, Decimal and text.
        """
        if type(lat) is float and type(lng) is float and type(resolution) is int and 0 <= resolution <= 15:
            # Kernel.encode_one in place: a call between functions takes a tenth of the whole.
            try:
                given, invoke, arguments, trap, record = self._local.encoding
            except AttributeError:
                given, invoke, arguments, trap, record = self.kernel.encoding
            put_position(given, 0, lat, lng, resolution)
            if invoke(*arguments) or trap:
                raise RuntimeError("the kernel trapped")
            text = record.value
            if text:
                return text.decode("ascii")
        lat, lng, kind = _columns_of(lat, lng)
        if kind is None:
            return self._encode_one(lat, lng, resolution)
        if kind == "Polars expression":
            return self._expression("encode", lat, lng, resolution)
        from . import _columns as columns, _views as views

        points, resolution = self._given_points(lat, lng, resolution, kind)
        if kind in (columns.LIST, columns.NUMPY):
            texts = views.encoded_units(self.kernel, points, resolution)
            if len(texts) and not texts[0]:
                self._warn_if_exchanged(points, texts == "")
            return [each or None for each in texts.tolist()] if kind == columns.LIST else texts
        encoded = views.encoded_texts(self.kernel, points, resolution)
        if encoded.valid is not None and not encoded.valid[0]:
            self._warn_if_exchanged(points, ~encoded.valid)
        return columns.text_column(encoded, lat, kind, "hexcodes")

    def cells(self, lat: Any, lng: Any = None, resolution: Any = DEFAULT_RESOLUTION) -> Any:
        """The H3 cell that the code of a position names, as a 64-bit number; 0 in NumPy where there is none. As `encode` otherwise."""
        lat, lng, kind = _columns_of(lat, lng)
        if kind is None:
            return self._decode_one(self._encode_one(lat, lng, resolution)).cell  # type: ignore[union-attr]
        if kind == "Polars expression":
            return self._expression("cells", lat, lng, resolution)
        from . import _columns as columns, _views as views

        points, resolution = self._given_points(lat, lng, resolution, kind)
        cells = views.encoded_cells(self.kernel, points, resolution)
        if len(cells) and cells[0] == 0:
            self._warn_if_exchanged(points, cells == 0)
        return columns.value_column(cells, cells != 0, lat, kind, "cell")

    def provinces(self, lat: Any, lng: Any = None) -> Any:
        """The province of a position, one of the 34 codes of PROVINCES; None, null or empty outside. As `encode` otherwise."""
        return self._located(lat, lng, "provinces", "regionOf", "locateBatch", CODES, "admin_code")

    def former_provinces(self, lat: Any, lng: Any = None) -> Any:
        """The province of a position before July 2025, by its name; None, null or empty outside.

        Raises HexcodesError BAD_DATA with boundaries that lack those provinces.
        """
        units = self.kernel.units
        if units is None or len(units) != len(_FORMER) or {(unit["admin"], unit["name"]) for unit in units} != _FORMER:
            raise HexcodesError("BAD_DATA", "The boundary index has no provinces from before July 2025")
        return self._located(lat, lng, "former_provinces", "unitOf", "unitBatch", [unit["name"] for unit in units], "former_province")

    def borders(self, lat: Any, lng: Any = None) -> Any:
        """How sure the province of a position is, as `Border`; None outside the coverage.

        A list gives a list of these; NumPy a `Border` of float64 arrays; pandas and Polars a frame, Arrow a batch or table, of border_m and
        certainty. Two expressions of Polars have no answer here: take Series. As `encode` otherwise.
        """
        lat, lng, kind = _columns_of(lat, lng)
        if kind is None:
            return self._border_of(lat, lng)
        if kind == "Polars expression":
            raise HexcodesError("BAD_ARGUMENT", "borders takes Series of Polars, not expressions")
        from . import _columns as columns, _views as views

        points = columns.points_of(lat, lng, kind)
        if kind == columns.LIST:
            return [self._border_of(*point) for point in zip(*(each.tolist() for each in points))]
        metres = views.borders(self.kernel, points)
        inside = views.located(self.kernel, points, "locateBatch") != NONE
        return columns.border_columns(metres, inside, self.kernel.bands, lat, kind, Border)

    def decode(self, code: Any) -> Any:
        """The position of a hexcode in any spelling that docs/code-format.md allows, as `Decoded`; None for any other value.

        A list gives a list of these; NumPy `DecodedColumns`; pandas and Polars a frame, Arrow a batch or table, of lat, lng, resolution,
        admin_code and cell. A text is never corrected.
        """
        if type(code) is str:
            try:
                given, invoke, arguments, trap, answer, canonical = self._local.decoding
            except AttributeError:
                given, invoke, arguments, trap, answer, canonical = self.kernel.decoding
            try:
                put_text(given, 0, code.encode(), len(code))
            except (UnicodeEncodeError, struct_error):
                return None
            if invoke(*arguments) or trap:
                raise RuntimeError("the kernel trapped")
            lat, lng, cell, resolution, admin, is_canonical = get_read(answer)
            if lat != lat:
                if code.isascii() or self.kernel.read_beyond_ascii(code) != OK:
                    return None
                lat, lng, cell, resolution, admin, is_canonical = get_read(answer)
            return _new(Decoded, (lat, lng, resolution, CODES[admin], code if is_canonical else canonical.value.decode("ascii"), cell))
        kind = _text_kind(code)
        if kind is None:
            return self._decode_one(code)
        if kind == "list":
            return [self._decode_one(each) for each in code]
        from . import _columns as columns

        answer = self._decoded(code, kind)
        if kind == columns.NUMPY:
            admin_codes = columns.words_column(answer.admin, CODES, None, kind, "admin_code")
            return DecodedColumns(answer.lat, answer.lng, answer.resolution, admin_codes, answer.cell)
        return columns.position_columns(answer, CODES, code, kind)

    def check(self, code: Any) -> Any:
        """Whether `decode` would accept a text, or each text of a column."""
        kind = _text_kind(code)
        if kind is None:
            return self._decode_one(code) is not None
        from . import _columns as columns

        return columns.value_column(self._decoded(code, kind, is_whole=False).valid, None, code, kind, "valid")

    def suggest(self, text: str, near: Optional[Tuple[float, float]] = None, limit: int = 10) -> List[Any]:
        """Valid codes that a mistyped text was probably meant to be: itself if it reads, else every valid code one slip away.

        near is a position (lat, lng) in degrees to which the code that was meant is probably close: the nearest comes first. Where no code is
        one slip away, it is the one near that position that ends as the text does (`83RFR`).
        """
        from ._suggest import suggest

        return suggest(self._decode_one, self.kernel.encode_one, text, near, limit)

    # Cells near a code, by h3-py

    def parent(self, code: str, resolution: Optional[int] = None) -> str:
        """The code of the cell's H3 ancestor within the same province.

        resolution is 0 up to the code's own, one less if absent. Raises HexcodesError BAD_ARGUMENT if `code` is not a hexcode, BAD_RESOLUTION.
        """
        from . import _cells

        return _cells.parent(self, code, resolution)

    def children(self, code: str, resolution: Optional[int] = None) -> List[str]:
        """The codes of the cell's H3 descendants within the same province, in their sort order.

        resolution is the code's own up to seven more and at most 15, one more if absent. Descendants too far from the province are left
        out. Raises HexcodesError BAD_ARGUMENT for no hexcode, BAD_RESOLUTION.
        """
        from . import _cells

        return _cells.children(self, code, resolution)

    def neighbors(self, code: str, steps: int = 1) -> List[str]:
        """The codes of the cells within `steps` of a code's cell, 1 to 500, ring by ring and without the code itself; needs h3.

        Each has the province of its own centre, or that of `code` where that centre is in none; one that `decode` would accept with neither
        is left out. Raises HexcodesError BAD_ARGUMENT for no hexcode, and where h3 is not installed.
        """
        from . import _cells

        return _cells.neighbors(self, code, steps)

    def boundary(self, code: Any) -> Any:
        """The corners of a code's cell as (lat, lng) in degrees, counter-clockwise, the first one not repeated; needs h3.

        A column of codes gives a GeoSeries of polygons in EPSG:4326, None where a row is not a hexcode, and needs geopandas, too. Raises
        HexcodesError BAD_ARGUMENT for no hexcode, and where a package is missing.
        """
        from . import _cells

        return _cells.boundary(self, code)

    # Single values

    def _border_of(self, lat: Any, lng: Any) -> Optional[Border]:
        lat_deg, lng_deg = _degrees(lat), _degrees(lng)
        kernel = self.kernel
        if lat_deg is None or lng_deg is None or kernel.call("regionOf", lat_deg, lng_deg) == NONE:
            return None
        metres, neighbour = kernel.call("borderOf", lat_deg, lng_deg), kernel.call("neighbourOf", lat_deg, lng_deg)
        behind = CODES[neighbour] if neighbour < len(CODES) else None
        return Border(None if metres == FAR else metres, kernel.certainty_at(metres), behind)

    def _encode_one(self, lat: Any, lng: Any, resolution: Any) -> str:
        if type(resolution) is not int or not 0 <= resolution <= 15:
            from ._columns import resolution_of

            resolution = resolution_of(resolution)
        lat_deg, lng_deg = _degrees(lat), _degrees(lng)
        if lat_deg is None or lng_deg is None:
            raise HexcodesError("NOT_A_COORDINATE", f"Not a position: lat and lng are numbers in degrees, not {lat!r} and {lng!r}")
        kernel = self.kernel
        text = kernel.encode_one(lat_deg, lng_deg, resolution)
        if text:
            return text
        swapped = abs(lng_deg) <= 90 and abs(lat_deg) <= 180 and kernel.call("regionOf", lng_deg, lat_deg) != NONE
        position = f"lat {lat}, lng {lng}{_SWAPPED_HINT if swapped else ''}"
        if abs(lat_deg) <= 90 and abs(lng_deg) <= 180:
            raise HexcodesError("OUTSIDE_COVERAGE", f"In no province of Viet Nam nor its sea: {position}")
        raise HexcodesError("NOT_A_COORDINATE", f"Not a position in degrees (lat -90 to 90, lng -180 to 180): {position}")

    def _decode_one(self, code: Any) -> Optional[Decoded]:
        return self.decode(str.__str__(code)) if isinstance(code, str) else None

    # Columns

    def _given_points(self, lat: Any, lng: Any, resolution: Any, kind: str) -> Tuple[Any, Any]:
        import numpy as np

        from . import _columns as columns

        points = columns.points_of(lat, lng, kind)
        resolutions, wrong = columns.resolutions_of(resolution, len(points[0]))
        if kind == columns.PANDAS == columns.kind_of(resolution) and not resolution.index.equals(lat.index):
            raise HexcodesError("BAD_ARGUMENT", "resolution has the index of lat: reset both, or take them from one frame")
        if wrong is not None:
            points = np.where(wrong, np.nan, points[0]), points[1]
        return points, resolutions

    def _warn_if_exchanged(self, points: Any, none: Any) -> None:
        from . import _columns as columns

        columns.warn_if_exchanged(points, none, lambda lat, lng: self.kernel.call("regionOf", lat, lng) != NONE)

    def _located(
        self, lat: Any, lng: Any, method: str, one: str, many: str, words: List[str], name: str
    ) -> Any:
        lat, lng, kind = _columns_of(lat, lng)
        if kind == "Polars expression":
            return self._expression(method, lat, lng)
        if kind is None:
            lat_deg, lng_deg = _degrees(lat), _degrees(lng)
            if lat_deg is None or lng_deg is None:
                return None
            number = self.kernel.call(one, lat_deg, lng_deg)
            return words[number] if number < len(words) else None
        from . import _columns as columns, _views as views

        numbers = views.located(self.kernel, columns.points_of(lat, lng, kind), many)
        return columns.words_column(numbers, words, lat, kind, name)

    def _decoded(self, code: Any, kind: str, is_whole: bool = True) -> Any:
        from . import _columns as columns, _views as views

        records, others, text_of = columns.records_of(code, kind)
        answer, unread = views.decoded(self.kernel, records, is_whole)
        for row in [*others, *unread.tolist()]:
            found = self._decode_one(text_of(row))
            if found is not None:
                answer.lat[row], answer.lng[row], answer.resolution[row] = found[:3]
                answer.admin[row], answer.cell[row], answer.valid[row] = CODES.index(found.admin_code), found.cell, True
        return answer

    def _expression(self, method: str, lat: Any, lng: Any, *more: Any) -> Any:
        import polars

        from . import _columns as columns

        one = [columns.resolution_of(each) for each in more if columns.kind_of(each) is None]
        parts = {"lat": lat, "lng": lng, **({} if one else dict(zip(["resolution"], more)))}
        for name, part in parts.items():
            if columns.kind_of(part) not in (columns.EXPRESSION, columns.POLARS):
                raise HexcodesError("BAD_ARGUMENT", f"{name} is an expression of Polars as lat is, not {part!r:.80}")

        def converted(rows: Any) -> Any:
            return getattr(self, method)(*map(rows.struct.field, parts), *one)

        kind = polars.UInt64 if method == "cells" else polars.String
        rows = polars.struct(*(part.alias(name) for name, part in parts.items()))
        return rows.map_batches(converted, return_dtype=kind, is_elementwise=True)

    # Files

    def _load(self) -> Tuple[Compiled, bytes, bytes]:
        with self._lock:
            if self._loaded is None:
                self._loaded = _loaded(self._given)
            return self._loaded


#: The instance with the package's own boundaries, which the functions of the package use; pickle replaces it by that of the other process.
default = Hexcodes()
if hasattr(os, "register_at_fork"):
    # A thread that holds the lock, as it loads the files, is not in the child.
    os.register_at_fork(after_in_child=lambda: setattr(default, "_lock", threading.Lock()))


def _loaded(given: Tuple[Optional[Source], ...]) -> Tuple[Compiled, bytes, bytes]:
    files = [_shipped(name) if each is None else _bytes_of(each, FILES[name]) for name, each in zip(FILES, given)]
    return compile_kernel(files[0]), files[1], files[2]


def _bytes_of(source: Source, what: str) -> bytes:
    try:
        return source if isinstance(source, bytes) else Path(source).read_bytes()  # type: ignore[arg-type]
    except (OSError, TypeError) as error:
        raise HexcodesError("BAD_DATA", f"The {what} cannot be used: {error}") from error


def _shipped(name: str) -> bytes:
    """A file of the package, which must be unchanged since it was packed."""
    what = FILES[name]
    try:
        content = DATA.joinpath(name).read_bytes()
        sums = dict(line.split()[::-1] for line in DATA.joinpath("SHA256SUMS").read_text("ascii").splitlines())
    except (OSError, ValueError) as error:
        raise HexcodesError("BAD_DATA", f"The {what} cannot be used: {error}") from None
    if hashlib.sha256(content).hexdigest() != sums.get(name):
        raise HexcodesError("BAD_DATA", f"The {what} cannot be used: {name} of the package was changed after it was packed")
    return content


def _degrees(value: Any) -> Optional[float]:
    """A number as a float; None for texts, booleans and what is not a number."""
    if type(value) is float:
        return value
    if isinstance(value, (str, bytes, bool)) or value is None:
        return None
    # A NumPy scalar, for example.
    type_name = str(getattr(value, "dtype", ""))
    if type_name in ("float16", "float32"):
        raise HexcodesError("BAD_ARGUMENT", f"{value!r} is {type_name}, which moves a position by metres: convert it to float where that is meant")
    if not hasattr(type(value), "__float__") or type_name == "bool" or type_name.startswith("complex"):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _columns_of(lat: Any, lng: Any) -> Tuple[Any, Any, Optional[str]]:
    """The two columns and their kind; None for single values. The points of a GeoSeries become two Series."""
    if type(lat) is float and type(lng) is float:
        return lat, lng, None
    from . import _columns as columns

    if columns.is_geo(lat):
        lat, lng = columns.points_of_geo(lat, lng)
    elif lng is None and columns.kind_of(lat) is not None:
        raise HexcodesError("BAD_ARGUMENT", "lat and lng are two columns; only a GeoSeries holds both")
    kind = columns.kind_of(lat)
    if kind is None and columns.kind_of(lng) is not None:
        raise HexcodesError("BAD_ARGUMENT", f"lat is a column as lng is, not {lat!r}")
    return lat, lng, kind


def _text_kind(code: Any) -> Optional[str]:
    if isinstance(code, str) or code is None:
        return None
    from ._columns import text_kind_of

    return text_kind_of(code)
