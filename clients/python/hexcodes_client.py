"""A client for the hexcodes service in one file: positions in Viet Nam to short codes and back.

Copy it into your project. It needs Python 3.9 and nothing else; arrays need NumPy and the stream needs websockets 13 or newer,
each only when it is used.

    client = HexcodesClient("http://127.0.0.1:8080/v1", api_key)
    client.encode(21.0288, 105.8525)["hexcodes"]          # 'HN-6GHP4-83RFR'
    client.encode_many([(21.0288, 105.8525), (0, 0)])     # ['HN-6GHP4-83RFR', None]
    client.encode_array(numpy_array_of_n_by_2)            # records of code and status

Positions are latitude and longitude in degrees (WGS 84), resolutions those of H3, 0 to 15. One client serves one thread.
Whether a text is a hexcode is checked without a service by examples/hexcode_reader.py.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import asyncio
import http.client
import itertools
import json
import math
import operator
import random
import struct
import time
from collections import deque
from typing import (
    TYPE_CHECKING, Any, AsyncIterable, AsyncIterator, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, TypedDict,
    Union,
)
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import numpy

__all__ = ["HexcodesClient", "HexcodesError", "Encoded", "Decoded", "BatchAnswer"]

DEFAULT_RESOLUTION = 13
#: Points of a frame that cost the service least for each.
FRAME_POINTS = 4096
#: Points of one bulk request: 4 MiB.
REQUEST_POINTS = 64 * FRAME_POINTS
BATCH_ITEMS = 10_000
RECORD_BYTES = 20
#: Bytes of an answer that are read: the service gives none as large, and a peer may send without end.
MAX_ANSWER_BYTES = 67_108_864
FRAMES_TYPE = "application/vnd.hexcodes.frames"

_ENCODE, _DECODE = 1, 2
_HEADER = struct.Struct("<BBBBIII")
_POINT = struct.Struct("<dd")
_RETRIED = (502, 503, 504)
_LAST_WAIT_S = 2.0
_MAX_CONNECTIONS = 18
_CLOSED_FOR_GOOD = (1003, 1009, 4001, 4002, 4003)


class Encoded(TypedDict, total=False):
    """A position with its code. `former_province`, `border_m` and `certainty` are there where they were asked for."""

    hexcodes: Optional[str]
    lat: Optional[float]
    lng: Optional[float]
    resolution: Optional[int]
    admin_code: Optional[str]
    former_province: Optional[str]
    border_m: Optional[int]
    certainty: Optional[float]
    status: str
    message: str
    id: Union[str, int, float]


class Decoded(TypedDict, total=False):
    """The centre of a code's cell."""

    lat: Optional[float]
    lng: Optional[float]
    resolution: Optional[int]
    hexcodes: str
    status: str
    id: Union[str, int, float]


class BatchAnswer(TypedDict):
    """One result for each item, in order."""

    status: str
    summary: Dict[str, int]
    results: List[Any]


class HexcodesError(Exception):
    """The service refused a request, or could not be reached.

    status: the service's word (NOT_FOUND, INVALID_REQUEST, REQUEST_DENIED, OVER_QUERY_LIMIT, UNAVAILABLE, INTERNAL_ERROR), or
    UNREACHABLE, or PROTOCOL for an answer that no hexcodes service gives; http_status: 0 without an answer.
    """

    def __init__(self, status: str, message: str, http_status: int = 0, details: Sequence[Dict[str, str]] = (),
                 request_id: Optional[str] = None) -> None:
        super().__init__(message)
        self.status = status
        self.http_status = http_status
        self.details = list(details)
        self.request_id = request_id


class HexcodesClient:
    """Calls of one service with one key. Conversions have no side effects: a call that fails on the way is made again."""

    def __init__(self, base_url: str, api_key: Optional[str] = None, timeout_s: float = 30.0, retries: int = 2) -> None:
        """base_url ends in /v1; timeout_s is that of a read or write; a call is repeated `retries` times at most."""
        address = urlsplit(base_url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ValueError(f"base_url is an address like http://127.0.0.1:8080/v1, not {base_url!r}")
        self._address = address
        self._path = address.path.rstrip("/")
        # A key that is read from a file has a line end; http.client would show any other in its error.
        key = None if api_key is None else api_key.strip()
        if key is not None and not (key.isascii() and key.isprintable()):
            raise ValueError("api_key has a character that no header can hold")
        self._headers = {} if key is None else {"X-API-Key": key}
        self._timeout_s = timeout_s
        self._retries = retries
        self._connection: Optional[http.client.HTTPConnection] = None

    def __enter__(self) -> HexcodesClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection; the next call opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def encode(
        self, lat: float, lng: float, resolution: int = DEFAULT_RESOLUTION, former: bool = False, certainty: bool = False
    ) -> Encoded:
        """The code of a position. HexcodesError NOT_FOUND: it is in no province of Viet Nam nor its sea."""
        body = {"lat": lat, "lng": lng, "resolution": resolution, **_asked(former, certainty)}
        answer: Encoded = self._json("POST", "/hexcodes/encode", body)
        return answer

    def decode(self, code: str) -> Optional[Decoded]:
        """The centre of a code's cell, in any spelling that the code format allows; None for any other text."""
        if not isinstance(code, str) or code == "":
            return None
        answer = self._json("POST", "/hexcodes/decode", {"hexcodes": code})
        return answer if answer["status"] == "OK" else None

    def encode_batch(
        self, points: Sequence[Any], resolution: int = DEFAULT_RESOLUTION, former: bool = False, certainty: bool = False
    ) -> BatchAnswer:
        """Results for any number of [lat, lng] or {"lat", "lng", "resolution"?, "id"?}."""
        more = {"resolution": resolution, **_asked(former, certainty)}
        return self._batch("/hexcodes/encode/batch", "points", points, more)

    def decode_batch(self, codes: Sequence[Any]) -> BatchAnswer:
        """Results for any number of codes or {"hexcodes", "id"?}."""
        return self._batch("/hexcodes/decode/batch", "hexcodes", codes, {})

    def encode_many(self, points: Iterable[Tuple[float, float]], resolution: int = DEFAULT_RESOLUTION) -> List[Optional[str]]:
        """The codes of any number of (lat, lng), None where a position has none. By frames: 20 bytes a point, no JSON."""
        codes: List[Optional[str]] = []
        for part in _parts(points, REQUEST_POINTS):
            body = b"".join(_POINT.pack(_degrees(lat), _degrees(lng)) for lat, lng in part)
            records = self._frames(_ENCODE, resolution, body, _POINT.size)
            codes.extend(_texts(records))
        return codes

    def decode_many(self, codes: Iterable[str]) -> List[Optional[Tuple[float, float, int]]]:
        """(lat, lng, resolution) of any number of codes of at most 19 ASCII characters, None where a text is not a code."""
        found: List[Optional[Tuple[float, float, int]]] = []
        for part in _parts(codes, REQUEST_POINTS):
            answer = self._frames(_DECODE, 0, b"".join(map(_record, part)), RECORD_BYTES)
            for count, columns in _decoded_columns(answer, len(part)):
                resolutions, statuses = columns[16 * count : 17 * count], columns[17 * count :]
                for i in range(count):
                    lat, lng = _POINT.unpack_from(columns, 16 * i)
                    found.append((lat, lng, resolutions[i]) if statuses[i] == 0 else None)
        return found

    def encode_array(self, lat_lng: numpy.ndarray, resolution: int = DEFAULT_RESOLUTION) -> numpy.ndarray:
        """Records for an array of shape (n, 2): fields `hexcodes` (bytes, empty without a code) and `status` (0 OK, 1 in no
        province, 2 no position, which a masked one is too). Single precision is refused. Needs NumPy."""
        import numpy as np

        given = np.asanyarray(lat_lng)
        if given.dtype == np.float32 or given.dtype == np.float16:
            raise ValueError(f"positions are {given.dtype}, which moves them by metres: convert them to float64 where that is meant")
        if given.dtype.kind not in "fiu":
            raise ValueError(f"positions are an array of float64, not of {given.dtype}")
        points = np.ascontiguousarray(np.ma.filled(given.astype("<f8"), np.nan))
        if points.ndim != 2 or points.shape[1] != 2:
            raise ValueError(f"positions are an array of shape (n, 2), not {points.shape}")
        parts = [
            self._frames(_ENCODE, resolution, points[at : at + REQUEST_POINTS].tobytes(), _POINT.size)
            for at in range(0, len(points), REQUEST_POINTS)
        ]
        return np.frombuffer(b"".join(parts), dtype=[("hexcodes", "S19"), ("status", "u1")])

    def decode_array(self, codes: numpy.ndarray) -> Tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]:
        """For codes as bytes of at most 19, none where they are masked: positions of shape (n, 2), NaN where a text is not a code, resolutions (255 there) and
        statuses (3 there). Takes the records of encode_array, too. Needs NumPy."""
        import numpy as np

        given = np.asanyarray(codes)
        texts = np.ma.filled(given["hexcodes"] if given.dtype.names is not None else given, "?")
        if texts.ndim != 1:
            raise ValueError(f"codes are an array of one dimension, not of shape {texts.shape}")
        if texts.dtype.kind not in "SU":
            texts = np.array([str(each, "latin-1") if isinstance(each, bytes) else str(each) for each in texts.tolist()], "U")
        records = np.zeros(len(texts), dtype=[("hexcodes", "S19"), ("status", "u1")])
        texts = np.char.encode(texts, "ascii", "replace") if texts.dtype.kind == "U" else texts
        # A text that is too long, or has a NUL, may not become a code by being cut.
        letters = np.ascontiguousarray(texts).view("u1").reshape(len(texts), -1 if len(texts) else 1)
        has_nul = ((letters[:, :-1] == 0) & (letters[:, 1:] != 0)).any(axis=1)
        is_cut = (np.char.str_len(texts) > 19) | has_nul
        records["hexcodes"] = np.where(is_cut, b"?", texts)
        lat_lng, resolutions, statuses = [], [], []
        for at in range(0, len(records), REQUEST_POINTS):
            part = records[at : at + REQUEST_POINTS]
            for count, columns in _decoded_columns(self._frames(_DECODE, 0, part.tobytes(), RECORD_BYTES), len(part)):
                lat_lng.append(np.frombuffer(columns, "<f8", 2 * count).reshape(-1, 2))
                resolutions.append(np.frombuffer(columns, "u1", count, 16 * count))
                statuses.append(np.frombuffer(columns, "u1", count, 17 * count))
        if not lat_lng:
            return np.empty((0, 2)), np.empty(0, "u1"), np.empty(0, "u1")
        return np.concatenate(lat_lng), np.concatenate(resolutions), np.concatenate(statuses)

    def admin_units(self) -> List[Dict[str, Any]]:
        """The 34 provinces: admin_code, name, merged_units."""
        return _rows(self._json("GET", "/admin-units"), "admin_units")

    async def encode_stream(
        self,
        chunks: Union[Iterable[Sequence[Tuple[float, float]]], AsyncIterable[Sequence[Tuple[float, float]]]],
        resolution: int = DEFAULT_RESOLUTION,
    ) -> AsyncIterator[List[Optional[str]]]:
        """The codes of each chunk of (lat, lng), in order, over one WebSocket. A chunk has at most 65,536 points. Lost connections are
        made again, and what had no answer is sent again. Needs websockets."""
        resolution = _resolution(resolution)
        numbers = itertools.count()
        source = (_HEADER.pack(1, _ENCODE, resolution, 0, next(numbers) % 2**32, len(chunk), 0)
                  + b"".join(_POINT.pack(_degrees(lat), _degrees(lng)) for lat, lng in chunk) async for chunk in _async(chunks))
        async for answer in self._stream(source):
            yield _texts(answer[_HEADER.size :])

    # HTTP

    def _batch(self, path: str, name: str, items: Sequence[Any], more: Dict[str, Any]) -> BatchAnswer:
        results: List[Dict[str, Any]] = []
        for at in range(0, max(1, len(items)), BATCH_ITEMS):
            sent = list(items[at : at + BATCH_ITEMS])
            part = _rows(self._json("POST", path, {**more, name: sent}), "results")
            if len(part) != len(sent):
                raise HexcodesError("PROTOCOL", "the answer has not a result for each item", 200)
            for i, result in enumerate(part):
                results.append({**result, "index": at + i} if "index" in result else result)
        ok = sum(result.get("status") == "OK" for result in results)
        return {"status": "OK", "summary": {"total": len(results), "ok": ok, "failed": len(results) - ok}, "results": results}

    def _frames(self, operation: int, resolution: int, records: bytes, size: int) -> bytes:
        """The records of the answers to frames of these records, without headers."""
        body = bytearray()
        count = len(records) // size
        resolution = _resolution(resolution)
        for at in range(0, count, FRAME_POINTS):
            points = min(FRAME_POINTS, count - at)
            body += _HEADER.pack(1, operation, resolution, 0, at // FRAME_POINTS, points, 0)
            body += records[at * size : (at + points) * size]
        path = f"/hexcodes/{'encode' if operation == _ENCODE else 'decode'}/bulk"
        status, data = self._call("POST", path, bytes(body), FRAMES_TYPE)
        if status != 200:
            raise _refusal(status, data)
        answer_size = RECORD_BYTES if operation == _ENCODE else 18
        parts, at = [], 0
        for frame in range(-(-count // FRAME_POINTS)):
            if at + _HEADER.size > len(data):
                raise HexcodesError("UNREACHABLE", "the answer was cut off", 200)
            version, answered, frame_status, _, seq, points, _ = _HEADER.unpack_from(data, at)
            if (version, answered) == (1, operation) and frame_status != 0:
                word = {2: "OVER_QUERY_LIMIT", 3: "UNAVAILABLE"}.get(frame_status, "INVALID_REQUEST")
                raise HexcodesError(word, f"the service refused a frame with status {frame_status}", 200)
            at += _HEADER.size
            end = at + points * answer_size
            due = (1, operation, frame, min(FRAME_POINTS, count - frame * FRAME_POINTS))
            if (version, answered, seq, points) != due or end > len(data):
                raise HexcodesError("PROTOCOL", "the answer has other frames than were sent", 200)
            parts.append(data[at:end])
            at = end
        return b"".join(parts)

    def _json(self, method: str, path: str, body: Optional[Dict[str, Any]] = None) -> Any:
        text = None if body is None else _json_text(body).encode()
        status, data = self._call(method, path, text, "application/json")
        answer = _object(data)
        if status == 200 and answer.get("status") in ("OK", "INVALID_HEXCODES"):
            return answer
        raise _refusal(status, data)

    def _call(self, method: str, path: str, body: Optional[bytes], content_type: str) -> Tuple[int, bytes]:
        headers = {**self._headers, **({} if body is None else {"Content-Type": content_type})}
        for attempt in range(self._retries + 1):
            try:
                connection = self._open()
                connection.request(method, self._path + path, body, headers)
                response = connection.getresponse()
                length = response.length
                data = response.read() if length is not None and length <= MAX_ANSWER_BYTES else response.read(MAX_ANSWER_BYTES + 1)
            except (http.client.HTTPException, OSError) as error:
                # A connection that was kept may have been closed: a fault of the first call on it is none of the service.
                self.close()
                if attempt == self._retries:
                    raise HexcodesError("UNREACHABLE", f"{self._address.netloc} cannot be reached: {error}") from error
                time.sleep(0 if attempt == 0 else _wait_s(attempt))
                continue
            if len(data) > MAX_ANSWER_BYTES:
                self.close()
                raise HexcodesError("PROTOCOL", f"{self._address.netloc} answers more than a hexcodes service does", response.status)
            if response.status not in _RETRIED or attempt == self._retries:
                return response.status, data
            time.sleep(_wait_s(attempt + 1))
        raise AssertionError("unreachable")

    def _open(self) -> http.client.HTTPConnection:
        if self._connection is None:
            kind = http.client.HTTPSConnection if self._address.scheme == "https" else http.client.HTTPConnection
            self._connection = kind(self._address.hostname or "", self._address.port, timeout=self._timeout_s)
        return self._connection

    # The stream

    async def _stream(self, source: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The answer to each frame, in order."""
        try:
            from websockets.asyncio.client import connect
            from websockets.exceptions import ConnectionClosed, InvalidHandshake
        except ImportError as error:
            raise ImportError("the stream needs websockets 13 or newer: pip install 'websockets>=13'") from error

        scheme = "wss" if self._address.scheme == "https" else "ws"
        url = f"{scheme}://{self._address.netloc}{self._path}/hexcodes/stream"
        unanswered: deque[bytes] = deque()
        next_chunk: Optional[asyncio.Future[bytes]] = None
        is_ended = False
        failures = 0
        try:
            while not is_ended or unanswered:
                if failures > 0:
                    await asyncio.sleep(_wait_s(failures))
                try:
                    opening = connect(url, subprotocols=["hexcodes.v1.binary"], additional_headers=self._headers,
                                      compression=None, max_size=1 << 21, ping_interval=None)
                    # A redirect would send the key and the positions to an address that the caller has not named.
                    opening.process_redirect = lambda exc: exc
                    async with opening as socket:
                        ready = _object(await asyncio.wait_for(socket.recv(), self._timeout_s))
                        if ready.get("type") != "ready" or ready.get("format") != 1:
                            raise HexcodesError("PROTOCOL", "the stream did not begin with a ready frame of format 1")
                        sent = sent_bytes = 0
                        while not is_ended or unanswered:
                            # First what an earlier connection has left, then what comes from the source.
                            if sent < len(unanswered):
                                frame = unanswered[sent]
                                if sent == 0 or (sent < ready["window"] and sent_bytes + len(frame) <= ready["window_bytes"]):
                                    await asyncio.wait_for(socket.send(frame), self._timeout_s)
                                    sent += 1
                                    sent_bytes += len(frame)
                                    continue
                            elif next_chunk is None and not is_ended:
                                next_chunk = asyncio.ensure_future(source.__anext__())
                            answer = asyncio.ensure_future(socket.recv()) if sent > 0 else None
                            waited = [each for each in (answer, next_chunk if sent == len(unanswered) else None) if each]
                            # A connection whose other end is gone says nothing: silence ends it.
                            limit = None if answer is None else self._timeout_s
                            done, _ = await asyncio.wait(waited, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
                            if not done:
                                raise asyncio.TimeoutError(f"no answer within {limit} s")
                            if next_chunk is not None and next_chunk.done():
                                try:
                                    unanswered.append(next_chunk.result())
                                except StopAsyncIteration:
                                    is_ended = True
                                next_chunk = None
                            if answer is None:
                                continue
                            if not answer.done():
                                # recv may be cancelled: what it would have given comes with the next call.
                                answer.cancel()
                                await asyncio.gather(answer, return_exceptions=True)
                                if answer.cancelled():
                                    continue
                            data, frame = answer.result(), unanswered[0]
                            data = data if isinstance(data, bytes) else b""
                            size = _HEADER.size + RECORD_BYTES * ((len(frame) - _HEADER.size) // _POINT.size)
                            if data[2:3] in (b"\2", b"\3"):
                                # The key is over its rate, or the service is overloaded: all again, after a pause.
                                failures += 1
                                if failures > 10 * _MAX_CONNECTIONS:
                                    word = "OVER_QUERY_LIMIT" if data[2] == 2 else "UNAVAILABLE"
                                    raise HexcodesError(word, "the service refuses frames, and goes on to")
                                break
                            if data[2:3] == b"\1":
                                raise HexcodesError("INVALID_REQUEST", "the service does not understand a frame")
                            if data[:2] + data[3:12] != frame[:2] + frame[3:12] or len(data) != size:
                                raise HexcodesError("PROTOCOL", "an answer is of another frame than the one that is due")
                            failures = 0
                            unanswered.popleft()
                            sent -= 1
                            sent_bytes -= len(frame)
                            yield data
                except ConnectionClosed as error:
                    failures += 1
                    code = error.rcvd.code if error.rcvd is not None else 1006
                    if code in _CLOSED_FOR_GOOD or failures > _MAX_CONNECTIONS:
                        raise HexcodesError("REQUEST_DENIED" if code == 4001 else "UNREACHABLE",
                                            f"the stream was closed with {code}") from error
                except (InvalidHandshake, OSError, asyncio.TimeoutError) as error:
                    failures += 1
                    status = getattr(getattr(error, "response", None), "status_code", 0)
                    if 300 <= status < 500 and status != 429 or failures > _MAX_CONNECTIONS:
                        word = "REQUEST_DENIED" if status in (401, 403) else "PROTOCOL" if 0 < status < 400 else "UNREACHABLE"
                        raise HexcodesError(word, f"no stream: {error}", status) from error
        finally:
            if next_chunk is not None:
                next_chunk.cancel()


def _asked(former: bool, certainty: bool) -> Dict[str, bool]:
    return {**({"former": True} if former else {}), **({"certainty": True} if certainty else {})}


def _wait_s(attempt: int) -> float:
    """0.2 s before the first repetition, twice as long before each further one, less a random part of up to half."""
    return min(_LAST_WAIT_S, 0.1 * 2.0**attempt) * (1 - random.random() / 2)


def _json_text(body: Any) -> str:
    """JSON has neither NaN nor infinity: null, which fails its item alone."""
    try:
        return json.dumps(body, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(body))


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, (list, tuple)) else value


def _parts(items: Iterable[Any], size: int) -> Iterator[List[Any]]:
    part: List[Any] = []
    for item in items:
        part.append(item)
        if len(part) == size:
            yield part
            part = []
    if part:
        yield part


async def _async(chunks: Any) -> AsyncIterator[Any]:
    if hasattr(chunks, "__aiter__"):
        async for chunk in chunks:
            yield chunk
    else:
        for chunk in chunks:
            yield chunk


def _degrees(value: Any) -> float:
    """A number in double precision: a text, a truth value and single precision, which is metres off, are refused."""
    if isinstance(value, (str, bytes, bool)) or type(value).__name__ in ("bool_", "bool", "float16", "float32"):
        raise TypeError(f"degrees are numbers in double precision, not {type(value).__name__}")
    return float(value)


def _resolution(value: Any) -> int:
    number = operator.index(value) if hasattr(value, "__index__") and not isinstance(value, bool) else -1
    if 0 <= number <= 15:
        return number
    raise HexcodesError("INVALID_REQUEST", f"resolution must be an integer from 0 to 15, not {value!r}")


def _record(code: str) -> bytes:
    """A code as 20 bytes; a text that does not fit, or is not ASCII, as a record that is not a code."""
    data = code.encode("ascii", "replace") if isinstance(code, str) else b"?"
    return (data if len(data) < RECORD_BYTES and b"\0" not in data else b"?").ljust(RECORD_BYTES, b"\0")


def _texts(records: bytes) -> List[Optional[str]]:
    """The codes of records, None where the status is not OK."""
    return [
        records[at : at + 19].rstrip(b"\0").decode("ascii") if records[at + 19] == 0 else None
        for at in range(0, len(records), RECORD_BYTES)
    ]


def _decoded_columns(answer: bytes, count: int) -> Iterator[Tuple[int, bytes]]:
    """The columns of each frame: positions, resolutions, statuses."""
    at = 0
    for first in range(0, count, FRAME_POINTS):
        points = min(FRAME_POINTS, count - first)
        yield points, answer[at : at + 18 * points]
        at += 18 * points


def _object(data: bytes) -> Dict[str, Any]:
    try:
        answer = json.loads(data)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _rows(answer: Dict[str, Any], name: str) -> List[Dict[str, Any]]:
    """A list of objects of an answer; that of another peer may have none."""
    rows = answer.get(name)
    if isinstance(rows, list) and all(isinstance(row, dict) for row in rows):
        return rows
    raise HexcodesError("PROTOCOL", f"the answer has no {name}, as no hexcodes service answers", 200)


def _refusal(status: int, data: bytes) -> HexcodesError:
    answer = _object(data)
    word = answer.get("status")
    if not isinstance(word, str) or word == "OK":
        return HexcodesError("PROTOCOL", f"HTTP {status}, but not as a hexcodes service answers", status)
    details = answer.get("details")
    details = details if isinstance(details, list) else []
    return HexcodesError(word, str(answer.get("message", word)), status, details, answer.get("request_id"))
