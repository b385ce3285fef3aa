"""Cells near a code and their corners. Ancestors and descendants follow from the bits of the index; h3-py does the rest where it is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator, List, Optional, Tuple

from ._errors import HexcodesError
from ._kernel import Decoded
from ._units import CODES

if TYPE_CHECKING:
    from ._library import Hexcodes

_MAX_STEPS = 500
#: Steps of resolution of `children`: 7 ** 7 codes.
_MAX_FINER = 7
_RESOLUTION_AT = 52


def parent(hexcodes: Hexcodes, code: str, resolution: Optional[int]) -> str:
    """See Hexcodes.parent."""
    read = _read(hexcodes, code)
    wanted = _resolution(read.resolution - 1 if resolution is None else resolution, 0, read.resolution, f"a parent of {read.hexcodes}")
    finer = (1 << 3 * (15 - wanted)) - 1
    found = hexcodes.kernel.pack(_with_resolution(read.cell, wanted) | finer, CODES.index(read.admin_code))
    # A row of the reach table holds the rows of all its descendants, so an ancestor always has its code.
    if found is None:
        raise HexcodesError("BAD_DATA", f"no code for the parent of {read.hexcodes}")
    return found


def children(hexcodes: Hexcodes, code: str, resolution: Optional[int]) -> List[str]:
    """See Hexcodes.children."""
    read = _read(hexcodes, code)
    highest = min(15, read.resolution + _MAX_FINER)
    wanted = _resolution(read.resolution + 1 if resolution is None else resolution, read.resolution, highest, f"children of {read.hexcodes}")
    admin, pack = CODES.index(read.admin_code), hexcodes.kernel.pack
    found = (pack(cell, admin) for cell in _descendants(read.cell, read.resolution, wanted))
    return [each for each in found if each is not None]


def neighbors(hexcodes: Hexcodes, code: str, steps: int) -> List[str]:
    """See Hexcodes.neighbors."""
    if type(steps) is not int or not 1 <= steps <= _MAX_STEPS:
        raise HexcodesError("BAD_ARGUMENT", f"steps of neighbors are an integer from 1 to {_MAX_STEPS}, not {steps!r}")
    read = _read(hexcodes, code)
    h3 = _h3("neighbors")
    own = h3.int_to_str(read.cell)
    codes = []
    for ring in range(1, steps + 1):
        for cell in h3.grid_ring(own, ring):
            found = _packed(hexcodes, h3.str_to_int(cell), h3.cell_to_latlng(cell), read.admin_code)
            if found is not None:
                codes.append(found)
    return codes


def boundary(hexcodes: Hexcodes, code: Any) -> Any:
    """See Hexcodes.boundary."""
    h3 = _h3("boundary")
    if isinstance(code, str):
        return _corners(h3, _read(hexcodes, code).cell)
    from ._columns import PANDAS, text_kind_of

    kind = text_kind_of(code)
    if kind is None:
        raise _no_hexcode(code)
    try:
        import geopandas
        import shapely
    except ImportError:
        raise HexcodesError("BAD_ARGUMENT", "boundary of a column needs geopandas: python3 -m pip install geopandas") from None
    texts = code.tolist() if hasattr(code, "tolist") else code.to_pylist() if hasattr(code, "to_pylist") else code
    shapes = [_polygon(shapely, h3, hexcodes.decode(text) if isinstance(text, str) else None) for text in texts]
    return geopandas.GeoSeries(shapes, index=code.index if kind == PANDAS else None, name="cell", crs="EPSG:4326")


def _polygon(shapely: Any, h3: Any, read: Optional[Decoded]) -> Any:
    return None if read is None else shapely.Polygon([(lng, lat) for lat, lng in _corners(h3, read.cell)])


def _corners(h3: Any, cell: int) -> List[Tuple[float, float]]:
    return list(h3.cell_to_boundary(h3.int_to_str(cell)))


def _packed(hexcodes: Hexcodes, cell: int, centre: Tuple[float, float], own: str) -> Optional[str]:
    """The code of a cell within the province of its centre, else of that of the code beside it."""
    theirs = hexcodes.provinces(*centre)
    found = None if theirs is None else hexcodes.kernel.pack(cell, CODES.index(theirs))
    return hexcodes.kernel.pack(cell, CODES.index(own)) if found is None else found


def _descendants(cell: int, resolution: int, wanted: int) -> Iterator[int]:
    """The cells below a hexagon, ascending: the base cells of Viet Nam are not pentagons, so every digit from 0 to 6 has one."""
    if resolution == wanted:
        yield cell
        return
    shift = 3 * (14 - resolution)
    first = _with_resolution(cell, resolution + 1) & ~(7 << shift)
    for digit in range(7):
        yield from _descendants(first | digit << shift, resolution + 1, wanted)


def _with_resolution(cell: int, resolution: int) -> int:
    return cell & ~(15 << _RESOLUTION_AT) | resolution << _RESOLUTION_AT


def _read(hexcodes: Hexcodes, code: Any) -> Decoded:
    read: Optional[Decoded] = hexcodes.decode(code) if isinstance(code, str) else None
    if read is None:
        raise _no_hexcode(code)
    return read


def _no_hexcode(code: Any) -> HexcodesError:
    return HexcodesError("BAD_ARGUMENT", f"not a hexcode: {code!r:.80}")


def _resolution(given: Any, lowest: int, highest: int, what: str) -> int:
    if type(given) is not int or not lowest <= given <= highest:
        raise HexcodesError("BAD_RESOLUTION", f"resolution of {what} is an integer from {lowest} to {highest}, not {given!r}")
    return given


def _h3(call: str) -> Any:
    try:
        import h3
    except ImportError:
        raise HexcodesError("BAD_ARGUMENT", f"{call} needs h3: python3 -m pip install h3") from None
    return h3
