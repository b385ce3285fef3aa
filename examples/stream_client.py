#!/usr/bin/env python3
"""A client of the stream of the hexcodes service: positions in, hexcodes out, in the same order.

    export HEXCODES_KEY=...
    python3 stream_client.py ws://127.0.0.1:8080/v1/hexcodes/stream 13 < positions.csv

Standard input has a line `lat,lng` in degrees for each position, standard output gets a line `code,status` for each, also for
a line that is no position. Needs
Python 3.8 and its standard library; written from docs/stream.md alone, whose words it uses.
"""

import base64
import hashlib
import json
import math
import os
import random
import socket
import ssl
import struct
import sys
import time
from collections import deque
from urllib.parse import urlsplit

SUBPROTOCOL = "hexcodes.v1.binary"
ACCEPT_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10

HEADER = struct.Struct("<BBBBIII")
VERSION, ENCODE, AS_TEXT = 1, 1, 0
FRAME_OK, FRAME_OVER_LIMIT, FRAME_OVERLOADED = 0, 2, 3
RECORD_BYTES = 20
POINT_STATUSES = ["OK", "OUTSIDE_COVERAGE", "NOT_A_COORDINATE"]

FRAME_POINTS = 4096
SILENCE_SEC = 60
FIRST_PAUSE_SEC, LONGEST_PAUSE_SEC = 0.2, 2
MOST_TRIES = 18
FINAL_CLOSES = {1003, 1009, 4001, 4002, 4003}


class StreamError(Exception):
    """Connecting again would not help."""


class Lost(Exception):
    """The connection is gone, or the service is overloaded: what has no answer is to be sent again."""

    def __init__(self, reason, wait_sec=0.0):
        super().__init__(reason)
        self.wait_sec = wait_sec


class Connection:
    """One WebSocket, from its handshake on. `window` and `window_bytes` are those of its ready frame."""

    def __init__(self, url, key):
        try:
            self._open(url, key)
            opcode, payload = self.receive()
        except OSError as error:
            raise Lost(f"cannot connect: {error}") from error
        ready = json.loads(payload) if opcode == TEXT else {}
        if ready.get("type") != "ready" or ready.get("format") != 1:
            raise StreamError("the stream did not begin with a ready frame of format 1")
        if ready["max_points"] < FRAME_POINTS:
            raise StreamError(f"the service takes {ready['max_points']} points a frame, and this client sends {FRAME_POINTS}")
        self.window = ready["window"]
        self.window_bytes = ready["window_bytes"]

    def _open(self, url, key):
        parts = urlsplit(url)
        is_secure = parts.scheme in ("wss", "https")
        port = parts.port or (443 if is_secure else 80)
        self._socket = socket.create_connection((parts.hostname, port), timeout=SILENCE_SEC)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if is_secure:
            context = ssl.create_default_context()
            self._socket = context.wrap_socket(self._socket, server_hostname=parts.hostname)
        self._reader = self._socket.makefile("rb")
        nonce = base64.b64encode(os.urandom(16)).decode()
        self._socket.sendall(
            f"GET {parts.path} HTTP/1.1\r\n"
            f"Host: {parts.netloc}\r\n"
            "Upgrade: websocket\r\n"
            "Connection: Upgrade\r\n"
            "Sec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Key: {nonce}\r\n"
            f"Sec-WebSocket-Protocol: {SUBPROTOCOL}\r\n"
            f"X-API-Key: {key}\r\n\r\n".encode()
        )
        status = self._read_line().split(" ", 2)
        headers = {}
        while True:
            line = self._read_line()
            if line == "":
                break
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        code = int(status[1])
        if code in (502, 503, 504):
            raise Lost(f"not connected (HTTP {code})", float(headers.get("retry-after", 0)))
        if code != 101:
            body = self._reader.read(int(headers.get("content-length", 0))).decode()
            raise StreamError(f"refused with HTTP {code}: {body}")
        accept = base64.b64encode(hashlib.sha1((nonce + ACCEPT_SUFFIX).encode()).digest()).decode()
        if headers.get("sec-websocket-accept") != accept:
            raise StreamError("the peer speaks no WebSocket")
        if headers.get("sec-websocket-protocol") != SUBPROTOCOL:
            raise StreamError(f"the peer does not speak {SUBPROTOCOL}")

    def send(self, payload, opcode=BINARY):
        size = len(payload)
        if size < 126:
            head = struct.pack("!BB", 0x80 | opcode, 0x80 | size)
        elif size < 65536:
            head = struct.pack("!BBH", 0x80 | opcode, 0x80 | 126, size)
        else:
            head = struct.pack("!BBQ", 0x80 | opcode, 0x80 | 127, size)
        mask = os.urandom(4)
        # XOR as one large number: byte by byte would take longer than the conversion.
        pattern = (mask * (size // 4 + 1))[:size]
        masked = int.from_bytes(payload, "big") ^ int.from_bytes(pattern, "big")
        self._socket.sendall(head + mask + masked.to_bytes(size, "big"))

    def receive(self):
        """The next message, as opcode and payload. Pings are answered on the way."""
        while True:
            first, second = self._read(2)
            size = second & 0x7F
            if size == 126:
                (size,) = struct.unpack("!H", self._read(2))
            elif size == 127:
                (size,) = struct.unpack("!Q", self._read(8))
            payload = self._read(size)
            opcode = first & 0x0F
            if opcode == PING:
                self.send(payload, PONG)
            elif opcode == CLOSE:
                code = struct.unpack("!H", payload[:2])[0] if size >= 2 else 1005
                self.close(code if size >= 2 else 1000)
                reason = f"closed with {code}: {payload[2:].decode(errors='replace')}"
                raise StreamError(reason) if code in FINAL_CLOSES else Lost(reason)
            elif opcode != PONG:
                return opcode, payload

    def _read_line(self):
        line = self._reader.readline()
        if not line.endswith(b"\n"):
            raise Lost("the connection was lost")
        return line.decode("latin-1").strip()

    def _read(self, size):
        data = self._reader.read(size)
        if len(data) < size:
            raise Lost("the connection was lost")
        return data

    def close(self, code):
        try:
            self.send(struct.pack("!H", code), CLOSE)
            self._socket.close()
        except OSError:
            pass  # It is gone already.


def exchange(connect, frames):
    """Sends frames and gives their answers, in order. Connects again when it must: every frame has one answer here.

    It fills the window before it reads, so an answer may wait for a source that pauses. Read in a thread of its own
    where that matters.
    """
    frames = iter(frames)
    unanswered = deque()
    tries = 0
    while True:
        connection = None
        sent = sent_bytes = 0
        try:
            connection = connect()
            while True:
                # As much as the window takes: first what an earlier connection did not answer.
                while True:
                    if sent == len(unanswered):
                        frame = next(frames, None)
                        if frame is None:
                            break
                        unanswered.append(frame)
                    size = len(unanswered[sent])
                    is_full = sent >= connection.window or sent_bytes + size > connection.window_bytes
                    if sent > 0 and is_full:
                        break
                    connection.send(unanswered[sent])
                    sent += 1
                    sent_bytes += size
                if sent == 0:
                    connection.close(1000)
                    return
                _, answer = connection.receive()
                check(unanswered[0], answer)
                tries = 0
                sent -= 1
                sent_bytes -= len(unanswered.popleft())
                yield answer
        except (Lost, OSError) as error:
            if connection is not None:
                connection.close(1000)
            tries += 1
            if tries >= MOST_TRIES:
                raise StreamError(f"given up after {tries} tries: {error}") from error
            pause_sec = min(LONGEST_PAUSE_SEC, FIRST_PAUSE_SEC * 2 ** (tries - 1))
            time.sleep(max(pause_sec * random.uniform(0.5, 1), getattr(error, "wait_sec", 0)))


def check(request, answer):
    """Holds an answer against the frame that is due."""
    if len(answer) < HEADER.size:
        raise StreamError("an answer is shorter than its header")
    _, operation, _, output, seq, points, _ = HEADER.unpack_from(request)
    version, answered, status, answered_output, answered_seq, count, _ = HEADER.unpack_from(answer)
    if (version, answered, answered_output, answered_seq) != (VERSION, operation, output, seq):
        raise StreamError(f"frame {seq} was due, and the answer is one to frame {answered_seq}")
    if status in (FRAME_OVER_LIMIT, FRAME_OVERLOADED):
        raise Lost("the service is overloaded")
    if status != FRAME_OK:
        raise StreamError(f"the service does not understand frame {seq}")
    if count != points or len(answer) != HEADER.size + count * RECORD_BYTES:
        raise StreamError(f"the answer to frame {seq} has another size than its records")


def encode(url, key, positions, resolution=13):
    """(code, status) for each (latitude, longitude) of an iterable, in its order. The code is '' for a failed point."""
    for answer in exchange(lambda: Connection(url, key), encode_frames(positions, resolution)):
        for at in range(HEADER.size, len(answer), RECORD_BYTES):
            code = answer[at : at + RECORD_BYTES - 1].rstrip(b"\0").decode("ascii")
            yield code, POINT_STATUSES[answer[at + RECORD_BYTES - 1]]


def encode_frames(positions, resolution):
    seq = 0
    numbers = []
    for latitude, longitude in positions:
        numbers += (latitude, longitude)
        if len(numbers) == 2 * FRAME_POINTS:
            yield encode_frame(seq, numbers, resolution)
            seq = (seq + 1) % 2**32
            numbers = []
    if numbers:
        yield encode_frame(seq, numbers, resolution)


def encode_frame(seq, numbers, resolution):
    header = HEADER.pack(VERSION, ENCODE, resolution, AS_TEXT, seq, len(numbers) // 2, 0)
    return header + struct.pack(f"<{len(numbers)}d", *numbers)


def position_of(line):
    """The two numbers of a line. Two that are none where it has others: the service answers them in their place."""
    try:
        latitude, longitude = map(float, line.split(","))
        return latitude, longitude
    except ValueError:
        return math.nan, math.nan


def main():
    if len(sys.argv) not in (2, 3) or "HEXCODES_KEY" not in os.environ:
        sys.exit(__doc__)
    resolution = int(sys.argv[2]) if len(sys.argv) == 3 else 13
    positions = map(position_of, sys.stdin)
    try:
        for code, status in encode(sys.argv[1], os.environ["HEXCODES_KEY"], positions, resolution):
            sys.stdout.write(f"{code},{status}\n")
    except StreamError as error:
        sys.exit(f"{sys.argv[0]}: {error}")


if __name__ == "__main__":
    main()
