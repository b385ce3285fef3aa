"""Short, human-friendly location codes for Viet Nam: GPS position to hexcode and back, in this process.

    import hexcodes
    hexcodes.encode(21.0288, 105.8525)                    # 'HN-6GHP4-83RFR'
    hexcodes.decode("hn6ghp4 83rfr").resolution           # 13
    hexcodes.encode(frame["lat"], frame["lng"], 10)       # a column of pandas, Polars, NumPy, Arrow or a list

The same kernel as the service's, by wasmtime: every answer is byte for byte the same. `hexcodes.client` calls the service.

Code: Apache-2.0. The boundaries inside: ODbL-1.0. Contains information from OpenStreetMap, (c) OpenStreetMap contributors, ODbL 1.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional, Tuple, TypeVar, Union, overload

from ._errors import HexcodesError
from ._kernel import Decoded
from ._library import DEFAULT_RESOLUTION, Border, DecodedColumns, Hexcodes, default
from ._suggest import Suggestion
from ._units import PROVINCES
from ._version import __version__

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    _Numbers = npt.NDArray[np.number[Any]]

__all__ = [
    "DEFAULT_RESOLUTION", "Border", "Decoded", "DecodedColumns", "Hexcodes", "HexcodesError", "PROVINCES", "Suggestion",
    "borders", "boundary", "cells", "check", "children", "decode", "default", "encode", "former_provinces", "neighbors", "parent",
    "provinces", "suggest",
]


_Values = Union[List[float], List[Optional[float]], Tuple[Optional[float], ...]]
_Texts = Union[List[str], List[Optional[str]], Tuple[Optional[str], ...]]
_Column = TypeVar("_Column")


@overload
def encode(lat: float, lng: float, resolution: int = ...) -> str: ...
@overload
def encode(lat: _Values, lng: _Values, resolution: Any = ...) -> List[Optional[str]]: ...
@overload
def encode(lat: _Numbers, lng: _Numbers, resolution: Any = ...) -> npt.NDArray[np.str_]: ...
@overload
def encode(lat: _Column, lng: _Column, resolution: Any = ...) -> _Column: ...
@overload
def encode(lat: Any, *, resolution: Any = ...) -> Any: ...
def encode(lat: Any, lng: Any = None, resolution: Any = DEFAULT_RESOLUTION) -> Any:
    """`Hexcodes.encode` with the package's boundaries."""
    return default.encode(lat, lng, resolution)


@overload
def decode(code: Union[str, None]) -> Optional[Decoded]: ...
@overload
def decode(code: _Texts) -> List[Optional[Decoded]]: ...
@overload
def decode(code: npt.NDArray[Any]) -> DecodedColumns: ...
@overload
def decode(code: Any) -> Any: ...
def decode(code: Any) -> Any:
    """`Hexcodes.decode` with the package's boundaries."""
    return default.decode(code)


@overload
def cells(lat: float, lng: float, resolution: int = ...) -> int: ...
@overload
def cells(lat: _Values, lng: _Values, resolution: Any = ...) -> List[Optional[int]]: ...
@overload
def cells(lat: _Numbers, lng: _Numbers, resolution: Any = ...) -> npt.NDArray[np.uint64]: ...
@overload
def cells(lat: _Column, lng: _Column, resolution: Any = ...) -> _Column: ...
@overload
def cells(lat: Any, *, resolution: Any = ...) -> Any: ...
def cells(lat: Any, lng: Any = None, resolution: Any = DEFAULT_RESOLUTION) -> Any:
    """`Hexcodes.cells` with the package's boundaries."""
    return default.cells(lat, lng, resolution)


@overload
def provinces(lat: float, lng: float) -> Optional[str]: ...
@overload
def provinces(lat: _Values, lng: _Values) -> List[Optional[str]]: ...
@overload
def provinces(lat: _Numbers, lng: _Numbers) -> npt.NDArray[np.str_]: ...
@overload
def provinces(lat: _Column, lng: _Column) -> _Column: ...
@overload
def provinces(lat: Any) -> Any: ...
def provinces(lat: Any, lng: Any = None) -> Any:
    """`Hexcodes.provinces` with the package's boundaries."""
    return default.provinces(lat, lng)


@overload
def former_provinces(lat: float, lng: float) -> Optional[str]: ...
@overload
def former_provinces(lat: _Values, lng: _Values) -> List[Optional[str]]: ...
@overload
def former_provinces(lat: _Numbers, lng: _Numbers) -> npt.NDArray[np.str_]: ...
@overload
def former_provinces(lat: _Column, lng: _Column) -> _Column: ...
@overload
def former_provinces(lat: Any) -> Any: ...
def former_provinces(lat: Any, lng: Any = None) -> Any:
    """`Hexcodes.former_provinces` with the package's boundaries."""
    return default.former_provinces(lat, lng)


@overload
def check(code: Union[str, None]) -> bool: ...
@overload
def check(code: _Texts) -> List[bool]: ...
@overload
def check(code: npt.NDArray[Any]) -> npt.NDArray[np.bool_]: ...
@overload
def check(code: _Column) -> _Column: ...
def check(code: Any) -> Any:
    """`Hexcodes.check` with the package's boundaries."""
    return default.check(code)


@overload
def borders(lat: float, lng: float) -> Optional[Border]: ...
@overload
def borders(lat: _Values, lng: _Values) -> List[Optional[Border]]: ...
@overload
def borders(lat: _Numbers, lng: _Numbers) -> Border: ...
@overload
def borders(lat: Any, lng: Any = ...) -> Any: ...
def borders(lat: Any, lng: Any = None) -> Any:
    """`Hexcodes.borders` with the package's boundaries."""
    return default.borders(lat, lng)


def parent(code: str, resolution: Optional[int] = None) -> str:
    """`Hexcodes.parent` with the package's boundaries."""
    return default.parent(code, resolution)


def children(code: str, resolution: Optional[int] = None) -> List[str]:
    """`Hexcodes.children` with the package's boundaries."""
    return default.children(code, resolution)


def neighbors(code: str, steps: int = 1) -> List[str]:
    """`Hexcodes.neighbors` with the package's boundaries."""
    return default.neighbors(code, steps)


@overload
def boundary(code: str) -> List[Tuple[float, float]]: ...
@overload
def boundary(code: Any) -> Any: ...
def boundary(code: Any) -> Any:
    """`Hexcodes.boundary` with the package's boundaries."""
    return default.boundary(code)


def suggest(text: str, near: Optional[Tuple[float, float]] = None, limit: int = 10) -> List[Suggestion]:
    """`Hexcodes.suggest` with the package's boundaries."""
    return default.suggest(text, near, limit)


if not TYPE_CHECKING:
    # A function around each would take a tenth of what a single value costs.
    encode, decode = default.encode, default.decode
