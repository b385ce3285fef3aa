"""Valid hexcodes one slip away from a mistyped one; the rules and their order are those of `suggest` of the library in JavaScript."""

from __future__ import annotations

import math
import re
import unicodedata
from itertools import chain
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

from ._errors import HexcodesError
from ._kernel import MAX_TEXT_UNITS
from ._units import CODES

_SYMBOLS = "23456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#: Groups of characters that people, fonts and telephones mistake for one another.
_TWINS = ("0ODQCG", "1ILJ7T", "5S", "2Z", "8B3", "UV", "NMH", "VYX", "6G", "4A", "9GP", "FPR", "KX", "CX")
#: Fewest symbols of a code without its province: shorter ones may be anything.
_MIN_WITHOUT_PROVINCE = 6
#: What ECMAScript calls white space.
_SPACE = frozenset("\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff") | {chr(c) for c in range(0x2000, 0x200B)}
_CHECK_SYMBOLS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
#: Positions around `near` whose codes are searched for an end: steps to each side, 5.5 km, and degrees of a step, 280 m.
_STEPS, _STEP_DEG = 20, 1 / 400
#: Resolution of the cell that province and first group stand for.
_LEFT_OUT_RESOLUTION = 7
#: What may be a code without its beginning.
_END = re.compile("[{0}-]*[0-9A-Z](?:[{0}-]*[0-9A-Z]){{2,9}}[{0}-]*".format(re.escape("".join(sorted(_SPACE)))), re.ASCII | re.IGNORECASE)
_SLIPS = ("none", "twin", "swap", "substitution", "extra", "missing", "province")
#: Mean radius of the Earth in H3, metres.
_EARTH_M = 6371007.180918475


class Suggestion(NamedTuple):
    """A valid code, and the slip that turns it into the text: none, twin, swap, substitution, extra, missing or province."""

    hexcodes: str
    resolution: int
    admin_code: str
    #: Centre of the cell, degrees.
    lat: float
    lng: float
    slip: str
    #: From `near` to the centre, metres; None without `near`.
    distance_m: Optional[float]


def suggest(
    read: Callable[[str], Any], encode: Callable[[float, float, int], str], text: str, near: Optional[Tuple[float, float]], limit: int
) -> List[Suggestion]:
    """Up to `limit` suggestions: with `near` by distance, without it by slip, then in byte order."""
    if not isinstance(text, str):
        raise HexcodesError("BAD_ARGUMENT", f"text is a text, not {text!r}")
    if near is not None:
        try:
            if isinstance(near, (str, bytes)) or any(isinstance(each, (str, bytes)) for each in near[:2]):
                raise ValueError
            lat, lng = float(near[0]), float(near[1])
            if not (abs(lat) <= 90 and abs(lng) <= 180):
                raise ValueError
            near = lat, lng
        except (TypeError, ValueError, IndexError, KeyError, OverflowError):
            raise HexcodesError("NOT_A_COORDINATE", f"near is (lat, lng) in degrees, not {near!r}") from None
    if not isinstance(limit, int):
        raise HexcodesError("BAD_ARGUMENT", f"limit is an integer, not {limit!r}")
    units = _units_of(text)
    found: Dict[str, Suggestion] = {}
    if len(units) > MAX_TEXT_UNITS:
        return []
    itself = read(text)
    candidates = iter([(units, "none")]) if itself else chain(_edits(units), _provinces(text), _whole(read, encode, text, near, found))
    for candidate, slip in candidates:
        code = read(_text_of(candidate))
        # A symbol missing beside a separator is found again as one in the separator's place: the first of them is right.
        if code is None or code.hexcodes in found:
            continue
        distance = None if near is None else _distance(near, (code.lat, code.lng))
        found[code.hexcodes] = Suggestion(code.hexcodes, code.resolution, code.admin_code, code.lat, code.lng, slip, distance)
    order = sorted(found.values(), key=lambda each: (each.distance_m or 0.0, _SLIPS.index(each.slip), each.hexcodes))
    return order[: max(limit, 0)]


def _edits(units: List[str]) -> Iterator[Tuple[List[str], str]]:
    is_symbol = [_is_symbol(unit) for unit in units]
    for i in range(len(units) + 1):
        for symbol in _SYMBOLS:
            yield [*units[:i], symbol, *units[i:]], "missing"
    for i, typed in enumerate(units):
        before, after = units[:i], units[i + 1 :]
        yield before + after, "extra"
        if not is_symbol[i]:
            # Punctuation that is not a separator is replaced by one; it was removed a line before.
            yield [*before, "-", *after], "extra"
        for symbol in _SYMBOLS:
            if symbol != typed:
                yield [*before, symbol, *after], "twin" if _are_twins(symbol, typed) else "substitution"
        following = next((n for n in range(i + 1, len(units)) if is_symbol[n]), 0)
        if is_symbol[i] and following > 0 and units[following] != typed:
            yield [*before, units[following], *units[i + 1 : following], typed, *units[following + 1 :]], "swap"


def _provinces(text: str) -> Iterator[Tuple[List[str], str]]:
    """The text with the letters of each province in front, or instead of those that it has."""
    symbols = "".join(char for char in text if unicodedata.category(char)[0] in "LN")
    if len(_units_of(symbols)) >= _MIN_WITHOUT_PROVINCE and any(char in "0123456789" for char in symbols):
        for code in CODES:
            yield _units_of(f"{code}-{text.strip(''.join(_SPACE))}"), "province"
    start = next((i for i, char in enumerate(text) if char not in _SPACE), len(text))
    for letters in (2, 3):
        end = start + letters
        if end > len(text) or not all(map(_is_letter, text[start:end])):
            continue
        rest = text[end:]
        # Behind the letters comes, perhaps after separators, a letter or a digit.
        first = next((char for char in rest if char not in _SPACE and not unicodedata.category(char).startswith("P")), "")
        if first and (_is_letter(first) or first in "0123456789"):
            for code in CODES:
                yield _units_of(code + rest), "province"


def _whole(read: Callable[[str], Any], encode: Callable[[float, float, int], str], text: str, near: Any, found: Any) -> Iterator[Tuple[Any, str]]:
    """The code near a position that ends as a text does: its nearest cell, whatever the check symbol, if that is right."""
    if found or near is None or not _END.fullmatch(text) or not any(char in "0123456789" for char in text):
        return
    steps = range(-_STEPS, _STEPS + 1)
    codes = (encode(near[0] + i * _STEP_DEG, near[1] + j * _STEP_DEG, 15) for i in steps for j in steps)
    last = max(i for i, char in enumerate(text) if char.isalnum())
    nearest, nearest_m = None, math.inf
    for start in dict.fromkeys("-".join(code.split("-")[:2]) for code in codes if code):
        meant = text[last]
        for check in (meant, *_CHECK_SYMBOLS):
            code = read(f"{start}-{text[:last]}{check}{text[last + 1 :]}")
            if code is None or code.resolution <= _LEFT_OUT_RESOLUTION or not code.hexcodes.startswith(start):
                continue
            far_m, whole = _distance(near, (code.lat, code.lng)), code.hexcodes if check == meant else None
            if far_m < nearest_m or (far_m == nearest_m and nearest is None):
                nearest, nearest_m = whole, far_m
            break
    if nearest is not None:
        yield _units_of(nearest), "province"


def _is_letter(char: str) -> bool:
    return unicodedata.category(char).startswith("L")


def _is_symbol(unit: str) -> bool:
    return unit not in _SPACE and not unicodedata.category(unit).startswith("P")


def _are_twins(a: str, b: str) -> bool:
    upper = b.upper()
    return any(a in group and upper in group for group in _TWINS)


def _units_of(text: str) -> List[str]:
    """UTF-16 units, as the kernel counts them."""
    data = text.encode("utf-16-le", "surrogatepass")
    return [chr(int.from_bytes(data[i : i + 2], "little")) for i in range(0, len(data), 2)]


def _text_of(units: List[str]) -> str:
    # Two halves of a character that were apart are one again for the kernel, which reads units.
    return "".join(units)


def _distance(a: Tuple[float, float], b: Tuple[float, float]) -> float:
    """Great-circle distance in metres, by H3's formula."""
    lat_a, lng_a, lat_b, lng_b = map(math.radians, (*a, *b))
    sin_lat, sin_lng = math.sin((lat_b - lat_a) * 0.5), math.sin((lng_b - lng_a) * 0.5)
    h = sin_lat * sin_lat + sin_lng * sin_lng * math.cos(lat_a) * math.cos(lat_b)
    return 2 * math.atan2(math.sqrt(h), math.sqrt(1 - h)) * _EARTH_M
