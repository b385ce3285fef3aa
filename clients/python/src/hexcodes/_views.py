"""The areas of a kernel's memory as NumPy arrays, and the loops over batches: one call of the kernel for 4,096 rows."""

from __future__ import annotations

from typing import Any, Iterator, NamedTuple, Optional, Tuple

import numpy as np

from ._kernel import CAPACITY, EACH_ITS_OWN, NONE, RECORD_BYTES, Kernel
from ._units import CODES

TEXT_BYTES = 18
Points = Tuple[np.ndarray, np.ndarray]


class Views:
    """Arrays over the memory of one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        memory = np.frombuffer(kernel.bytes, np.uint8)
        start, end = kernel.input_at, kernel.input_at + CAPACITY * RECORD_BYTES
        self.records_in = memory[start:end].reshape(CAPACITY, RECORD_BYTES)
        self.points = memory[start : start + CAPACITY * 16].view(np.float64).reshape(CAPACITY, 2)
        self.resolutions = memory[kernel.resolutions_at : kernel.resolutions_at + CAPACITY]
        self.output = memory[kernel.output_at : kernel.output_at + CAPACITY * RECORD_BYTES]
        self.records = self.output.reshape(CAPACITY, RECORD_BYTES)


class Texts(NamedTuple):
    """Texts end to end, as Arrow has them."""

    #: Where each begins, and where the last ends.
    ends: np.ndarray
    data: bytes
    #: Which rows have a text; None if all.
    valid: Optional[np.ndarray]


def batches(kernel: Kernel, points: Points, resolution: Any) -> Iterator[Tuple[int, int, int]]:
    """Puts the points into INPUT, 4,096 at a time: from, to and the resolution for the call."""
    lat, lng = points
    views = kernel.views
    each = isinstance(resolution, np.ndarray)
    for start in range(0, len(lat), CAPACITY):
        end = min(len(lat), start + CAPACITY)
        views.points[: end - start, 0] = lat[start:end]
        views.points[: end - start, 1] = lng[start:end]
        if each:
            views.resolutions[: end - start] = resolution[start:end]
        yield start, end, EACH_ITS_OWN if each else resolution


def encoded_texts(kernel: Kernel, points: Points, resolution: Any) -> Texts:
    """The codes of points."""
    count = len(points[0])
    lengths = np.empty(count + 1, np.int64)
    lengths[0] = 0
    valid: Optional[np.ndarray] = None
    parts = []
    for start, end, for_call in batches(kernel, points, resolution):
        failed = kernel.call("encodeBatch", end - start, for_call)
        records = kernel.views.records[: end - start]
        if failed:
            if valid is None:
                valid = np.ones(count, bool)
            valid[start:end] = records[:, 19] == 0
            records[:, 19] = 0
        # Statuses are NUL now, so every other NUL is padding.
        lengths[start + 1 : end + 1] = np.strings.str_len(records.view(f"S{RECORD_BYTES}").ravel())
        parts.append(records.tobytes().translate(None, b"\0"))
    return Texts(np.cumsum(lengths, out=lengths), b"".join(parts), valid)


def encoded_units(kernel: Kernel, points: Points, resolution: Any) -> np.ndarray:
    """The codes of points as an array of 18 characters each, empty where there is none."""
    texts = np.zeros((len(points[0]), TEXT_BYTES), np.uint32)
    for start, end, for_call in batches(kernel, points, resolution):
        kernel.call("encodeBatch", end - start, for_call)
        texts[start:end] = kernel.views.records[: end - start, :TEXT_BYTES]
    return texts.view(f"U{TEXT_BYTES}").ravel()


def encoded_cells(kernel: Kernel, points: Points, resolution: Any) -> np.ndarray:
    """The H3 cells of points, uint64; 0 where there is no code."""
    cells = np.empty(len(points[0]), np.uint64)
    for start, end, for_call in batches(kernel, points, resolution):
        kernel.call("encodeCells", end - start, for_call)
        cells[start:end] = kernel.views.output[: 8 * (end - start)].view(np.uint64)
    return cells


def located(kernel: Kernel, points: Points, call: str) -> np.ndarray:
    """Admin numbers (`locateBatch`) or units (`unitBatch`) of points, uint8; 255 outside."""
    numbers = np.empty(len(points[0]), np.uint8)
    for start, end, _ in batches(kernel, points, 0):
        kernel.call(call, end - start)
        numbers[start:end] = kernel.views.output[: end - start]
    return numbers


def borders(kernel: Kernel, points: Points) -> np.ndarray:
    """Whole metres from points to the nearest border between two provinces, uint16; FAR beyond 5 km."""
    metres = np.empty(len(points[0]), np.uint16)
    for start, end, _ in batches(kernel, points, 0):
        kernel.call("borderBatch", end - start)
        metres[start:end] = kernel.views.output[: 2 * (end - start)].view(np.uint16)
    return metres


class Positions(NamedTuple):
    """Centres of cells in degrees, NaN where there is none; resolutions and admin numbers, 255 where there is none; cells, 0; which rows are codes."""

    lat: np.ndarray
    lng: np.ndarray
    resolution: np.ndarray
    admin: np.ndarray
    cell: np.ndarray
    valid: np.ndarray


def decoded(kernel: Kernel, records: np.ndarray, is_whole: bool) -> Tuple[Positions, np.ndarray]:
    """The positions of records, uint8 of shape (n, 20); if is_whole also cells and provinces, and the indexes of rows where these must be read one by one."""
    count = len(records)
    answer = Positions(
        np.empty(count), np.empty(count), np.empty(count, np.uint8), np.full(count, NONE, np.uint8), np.zeros(count, np.uint64), np.empty(count, bool)
    )
    for start in range(0, count, CAPACITY):
        size = min(count - start, CAPACITY)
        end = start + size
        views, output = kernel.views, kernel.views.output
        views.records_in[:size] = records[start:end]
        kernel.call("decodeBatch", size)
        centres = output[: 16 * size].view(np.float64)
        answer.lat[start:end] = centres[0::2]
        answer.lng[start:end] = centres[1::2]
        resolutions = answer.resolution[start:end] = output[16 * size : 17 * size]
        valid = answer.valid[start:end] = output[17 * size : 18 * size] == 0
        if not is_whole:
            continue
        answer.admin[start:end] = np.where(valid, _admins_of(records[start:end]), NONE)
        # A position within a cell encodes to that cell, unless it lies in no province.
        views.points[:size] = centres.reshape(-1, 2) + _ASIDE[resolutions]
        views.resolutions[:size] = resolutions
        kernel.call("encodeCells", size, EACH_ITS_OWN)
        answer.cell[start:end] = output[: 8 * size].view(np.uint64)
    return answer, np.flatnonzero(answer.valid & ((answer.cell == 0) | (answer.admin == NONE))) if is_whole else np.array([], np.intp)


#: By resolution, degrees from a centre to a position beside it, a hundredth of the cell away. The kernel's fast path leaves centres undecided.
_ASIDE = np.outer(0.1 * 7.0 ** (-np.arange(256) / 2), [1.0, 0.4])


#: Each admin code and its hyphen as the bytes of a u32, and after the last one a text that no record has.
_PREFIXES = np.array([*(int.from_bytes(f"{code}-".encode("ascii"), "little") for code in CODES), 0xFFFFFFFF], np.uint32)
_MASKS = np.where(_PREFIXES < 1 << 24, 0xFFFFFF, 0xFFFFFFFF).astype(np.uint32)


def _index(prefixes: Any) -> Any:
    """Five bits of each of the first three characters."""
    return prefixes & 31 | prefixes >> 3 & 31 << 5 | prefixes >> 6 & 31 << 10


_ADMINS = np.full(1 << 15, len(CODES), np.uint8)
_ADMINS[_index(_PREFIXES[:-1])] = np.arange(len(CODES))


def _admins_of(records: np.ndarray) -> np.ndarray:
    """The admin numbers of records that begin with an admin code in capitals and a hyphen; NONE for every other."""
    first = np.ascontiguousarray(records[:, :4]).view(np.uint32).ravel()
    admins = _ADMINS[_index(first)]
    return np.where(first & _MASKS[admins] == _PREFIXES[admins], admins, NONE)
