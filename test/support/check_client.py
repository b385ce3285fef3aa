"""Runs calls of clients/python/hexcodes_client.py for test/conformance/python-client.test.ts: tasks come as JSON lines on standard
input, [name, arguments …], and one JSON line for each leaves on standard output."""

import array
import asyncio
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "clients", "python"))
from hexcodes_client import HexcodesClient, HexcodesError  # noqa: E402


def points_of(path):
    values = array.array("d")
    with open(path, "rb") as file:
        values.frombytes(file.read())
    return values


async def streamed(client, path, size, resolution):
    values = points_of(path)
    pairs = list(zip(values[0::2], values[1::2]))

    async def chunks():
        for at in range(0, len(pairs), size):
            await asyncio.sleep(0)
            yield pairs[at : at + size]

    codes = []
    async for answer in client.encode_stream(chunks(), resolution):
        codes.extend(answer)
    return codes


def run(client, name, *args):
    if name == "encode_file":
        values = points_of(args[0])
        return client.encode_many(zip(values[0::2], values[1::2]), args[1])
    if name == "encode_array_to":
        import numpy

        records = client.encode_array(numpy.fromfile(args[0]).reshape(-1, 2), args[1])
        records.tofile(args[2])
        lat_lng, resolutions, statuses = client.decode_array(records)
        for values, path in zip((lat_lng, resolutions, statuses), args[3:]):
            values.tofile(path)
        return len(records)
    if name == "decode_texts_by_array":
        import numpy

        codes = numpy.array(args[0])
        answers = [client.decode_array(each) for each in (codes, codes.astype(object), list(codes))]
        if len(codes):
            hidden = client.decode_array(numpy.ma.array(codes, mask=[True] * len(codes)))
            assert set(hidden[2].tolist()) == {3}, hidden
        assert all(numpy.array_equal(a, b, equal_nan=True) for each in answers for a, b in zip(each, answers[0]))
        lat_lng, resolutions, statuses = answers[0]
        return [[*lat_lng[i].tolist(), int(resolutions[i])] if statuses[i] == 0 else None for i in range(len(statuses))]
    if name == "encode_stream":
        return asyncio.run(streamed(client, *args))
    return getattr(client, name)(*args)


base, key, timeout_s = sys.argv[1:4]
with HexcodesClient(base, key, timeout_s=float(timeout_s)) as client:
    for line in sys.stdin:
        try:
            answer = run(client, *json.loads(line))
        except HexcodesError as error:
            answer = {"error": error.status, "http": error.http_status, "details": error.details}
        print(json.dumps(answer, allow_nan=False), flush=True)
