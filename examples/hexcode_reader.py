#!/usr/bin/env python3
"""Reads and checks hexcodes where they are typed in, without the service.

    >>> read("hn6ghp4 83rfr").code
    'HN-6GHP4-83RFR'
    >>> read("HN-6GHP4-83RFX") is None
    True

    printf 'hn6ghp4 83rfr\\n' | python3 hexcode_reader.py --reach data/reach.bin

Each line of standard input is a text as people type it; each line of standard output is its canonical code, or INVALID. With
--cells the H3 cell follows after a comma, with --json each line of input is a JSON string. Exit code 1 if any was invalid.

Needs Python 3.8 and its standard library; written from docs/code-format.md alone, whose words it uses. Copy it as it is.
"""

import json
import sys
import unicodedata
import zlib
from typing import Dict, List, NamedTuple, Optional

SYMBOLS = "23456789CFGHJKMPQRVX"
VALUES = {symbol: value for value, symbol in enumerate(SYMBOLS)}
# In the order of the bits of a reach mask.
ADMIN_CODES = (
    "TQ CB LCU LCI TN DB LS SL PT BN QNH HN HP HY NB TH NA HT QT HUE DNG QNG GL DLK KH LD DN TNH HCM DT AG VL CT CM"
).split()
# Base cell and digit of level 1 of every head; None where the code ends with the base cell.
HEADS = (
    (32, None), (32, 0), (32, 1), (32, 4), (32, 5), (32, 6), (50, None), (50, 0),
    (50, 2), (50, 4), (50, 6), (52, None), (52, 0), (52, 4), (52, 5), (52, 6),
)
MOST_UNITS = 64
SEPARATORS = frozenset(
    [0x20, 0xA0, 0xAD, 0x202F, 0x205F, 0x2060, 0x2212, 0x3000, 0xFEFF, ord("-"), ord("."), ord("_")]
    + list(range(0x09, 0x0E))
    + list(range(0x2000, 0x2016))
)
TIMES_ALPHA = (0, 2, 3, 1)


class Hexcode(NamedTuple):
    code: str
    """Canonical text."""
    admin_code: str
    resolution: int
    """0 to 15, of H3."""
    cell: int
    """H3 index, 64 bits; f"{cell:x}" is H3's own text."""


class Reach:
    """Which admin codes a code may carry that begins with a head and a first pair: the table data/reach.bin of the package."""

    def __init__(self, table: bytes) -> None:
        """Raises ValueError where the bytes are no such table."""
        if table[:4] != b"HXRE" or int.from_bytes(table[4:8], "little") != 1:
            raise ValueError("this is no reach table of format 1")
        count, crc = int.from_bytes(table[8:12], "little"), int.from_bytes(table[12:16], "little")
        rows = table[16:]
        if len(rows) != 10 * count or zlib.crc32(rows) != crc:
            raise ValueError("the reach table is damaged")
        self._masks: Dict[int, int] = {
            int.from_bytes(rows[at : at + 2], "little"): int.from_bytes(rows[at + 2 : at + 10], "little")
            for at in range(0, len(rows), 10)
        }

    def allows(self, admin_code: str, head: int, first_pair: int) -> bool:
        mask = self._masks.get(head * 401 + first_pair, 0)
        return bool(mask >> ADMIN_CODES.index(admin_code) & 1)


def read(text: str, reach: Optional[Reach] = None) -> Optional[Hexcode]:
    """The hexcode that a text spells; None if it spells none. Without the reach a few codes are accepted that never were."""
    # A character beyond the first plane has two units, but no such character is ever part of a code.
    if len(text) > MOST_UNITS:
        return None
    characters, first_separator = [], None
    for character in text:
        ascii_character = _ascii(character)
        if ascii_character == "-":
            if characters and first_separator is None:
                first_separator = len(characters)
        elif ascii_character is None:
            return None
        else:
            characters.extend(ascii_character)
    if not 4 <= len(characters) <= 15:
        return None
    letters = 2 + len(characters) % 2
    if first_separator in (2, 3) and first_separator != letters:
        return None
    admin_code = "".join(characters[:letters])
    values = [VALUES.get(symbol, -1) for symbol in characters[letters:]]
    if admin_code not in ADMIN_CODES or -1 in values or check_of(admin_code, values[:-1]) != values[-1]:
        return None
    pairs = [20 * high + low for high, low in zip(values[1:-1:2], values[2:-1:2])]
    levels = _levels(values[0], pairs)
    if levels is None:
        return None
    if reach is not None and not reach.allows(admin_code, values[0], pairs[0] if pairs else 0):
        return None
    symbols = "".join(SYMBOLS[value] for value in values)
    code = "-".join([admin_code] + [symbols[at : at + 5] for at in range(0, len(symbols), 5)])
    return Hexcode(code, admin_code, len(levels), _cell(HEADS[values[0]][0], levels))


def check_of(admin_code: str, values: List[int]) -> int:
    """The value of the check symbol after an admin code, a head and pairs, given as values of symbols."""
    p = q = 0
    for value in [(ord(letter) - ord("A")) % 20 for letter in admin_code] + values:
        p = TIMES_ALPHA[p] ^ (value % 4)
        q = (2 * q + value) % 5
    return (5 * TIMES_ALPHA[p] + 16 * (-2 * q % 5)) % 20


def _ascii(character: str) -> Optional[str]:
    """A-Z or 2-9; '-' for every separator, '' for a mark that is dropped, None for what is no part of a code."""
    unit = ord(character)
    if 0xFF01 <= unit <= 0xFF5E:
        unit -= 0xFEE0
    if unit in SEPARATORS:
        return "-"
    if 0x300 <= unit <= 0x36F:
        return ""
    letter = chr(unit)
    if letter in "ĐđÐð":
        letter = "D"
    elif 0xC0 <= unit <= 0x1EF9:
        base, *marks = unicodedata.normalize("NFD", letter)
        if not marks or not all(unicodedata.category(mark).startswith("M") for mark in marks):
            return None
        letter = base
    if "a" <= letter <= "z":
        letter = letter.upper()
    return letter if "A" <= letter <= "Z" or "2" <= letter <= "9" else None


def _levels(head: int, pairs: List[int]) -> Optional[List[int]]:
    """The H3 digits of level 1 to the resolution; None where head and pairs make no cell."""
    if head >= len(HEADS):
        return None
    first = HEADS[head][1]
    if first is None:
        return None if pairs else []
    levels = [first]
    for place, number in enumerate(pairs):
        digits = _digits_of(number)
        is_last = place == len(pairs) - 1
        if not digits or (len(digits) < 3 and not is_last):
            return None
        levels += digits
    return levels if len(levels) <= 15 else None


def _digits_of(number: int) -> List[int]:
    """The one to three digits of a pair, none for 0: its number is the place in a tree of depth 3, in pre-order."""
    digits = []
    for subtree in (57, 8, 1):
        if number == 0:
            break
        digit, number = divmod(number - 1, subtree)
        digits.append(digit)
    return digits


def _cell(base_cell: int, levels: List[int]) -> int:
    index = 1 << 59 | len(levels) << 52 | base_cell << 45
    for level in range(1, 16):
        index |= (levels[level - 1] if level <= len(levels) else 7) << 3 * (15 - level)
    return index


def main(arguments: List[str]) -> int:
    reach = None
    if "--reach" in arguments:
        with open(arguments[arguments.index("--reach") + 1], "rb") as file:
            reach = Reach(file.read())
    are_all_valid = True
    sys.stdin.reconfigure(encoding="utf-8", newline="\n")
    for line in sys.stdin:
        text = line.rstrip("\r\n")
        hexcode = read(json.loads(text) if "--json" in arguments else text, reach)
        are_all_valid = are_all_valid and hexcode is not None
        if hexcode is None:
            print("INVALID")
        else:
            print(f"{hexcode.code},{hexcode.cell:x}" if "--cells" in arguments else hexcode.code)
    return 0 if are_all_valid else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
