"""The areas of a kernel's memory as NumPy arrays, and the loops over batches: one call of the kernel for 4,096 rows."""

from __future__ import annotations

from typing import Any, Iterator, NamedTuple, Optional, Tuple

import numpy as np

from ._kernel import CAPACITY, EACH_ITS_OWN, RECORD_BYTES, Kernel

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


class Positions(NamedTuple):
    """Centres of cells in degrees, NaN where there is none; resolutions, 255 where there is none; which rows are codes."""

    lat: np.ndarray
    lng: np.ndarray
    resolution: np.ndarray
    valid: np.ndarray


def decoded(kernel: Kernel, records: np.ndarray) -> Positions:
    """The positions of records: uint8 of shape (n, 20)."""
    count = len(records)
    answer = Positions(np.empty(count), np.empty(count), np.empty(count, np.uint8), np.empty(count, bool))
    for start in range(0, count, CAPACITY):
        size = min(count - start, CAPACITY)
        kernel.views.records_in[:size] = records[start : start + size]
        kernel.call("decodeBatch", size)
        output = kernel.views.output
        centres = output[: 16 * size].view(np.float64)
        answer.lat[start : start + size] = centres[0::2]
        answer.lng[start : start + size] = centres[1::2]
        answer.resolution[start : start + size] = output[16 * size : 17 * size]
        answer.valid[start : start + size] = output[17 * size : 18 * size] == 0
    return answer
