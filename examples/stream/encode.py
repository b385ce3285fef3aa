"""Positions in, hexcodes out, in the same order, by the stream of docs/stream.md.

    pip install websockets
    python3 encode.py KEY ws://node-1:8080/v1/hexcodes/stream [ws://node-2:8080/…] < positions.csv

Standard input has a line `lat,lng` in degrees for each position; standard output gets a line for each, empty for a
position without a code. A lost connection is opened again, at the next address.
"""
import asyncio, itertools, json, random, struct, sys
from array import array
import websockets

HEADER = struct.Struct("<BBBBIII")
FINAL = {1003, 1009, 4001, 4002, 4003, 301, 302, 303, 307, 308, 400, 401, 403}  # close codes and HTTP statuses that stay

async def encode(key, urls, batches, resolution=13, max_tries=20):
    """Yields a list of codes for each batch, which is array('d', [lat, lng, lat, lng, …])."""
    batches, unanswered, numbers, failed = iter(batches), {}, itertools.count(), 0
    options = {"subprotocols": ["hexcodes.v1.binary"], "additional_headers": {"Authorization": f"Bearer {key}"}}
    for url in itertools.cycle(urls):
        opening = websockets.connect(url, **options)
        opening.process_redirect = lambda error: error  # Key and positions go to no address that was not named.
        try:
            async with opening as socket:
                window = json.loads(await asyncio.wait_for(socket.recv(), 10))["window"]
                for frame in unanswered.values():
                    await socket.send(frame)
                while True:
                    while len(unanswered) < window and (batch := next(batches, None)) is not None:
                        seq, count = next(numbers) % 2**32, len(batch) // 2
                        unanswered[seq] = HEADER.pack(1, 1, resolution, 0, seq, count, 0) + batch.tobytes()
                        await socket.send(unanswered[seq])
                    if not unanswered:
                        return
                    answer = await asyncio.wait_for(socket.recv(), 60)
                    _, _, status, _, seq, count, _ = HEADER.unpack_from(answer)
                    if status in (2, 3):
                        raise ConnectionError("over a limit: every unanswered frame is sent again")
                    if status != 0:
                        raise ValueError(f"frame status {status}")
                    del unanswered[seq]
                    failed = 0
                    yield [answer[at : at + 19].rstrip(b"\0").decode() for at in range(16, 16 + 20 * count, 20)]
        except (OSError, asyncio.TimeoutError, websockets.WebSocketException) as error:
            closed, refused = getattr(error, "rcvd", None), getattr(error, "response", None)
            failed += 1
            if {getattr(closed, "code", 0), getattr(refused, "status_code", 0)} & FINAL or failed > max_tries:
                raise
            await asyncio.sleep(random.uniform(0.5, 1) * min(1, 0.1 * 2**failed))

async def main(key, *urls):
    def batches():
        while lines := list(itertools.islice(sys.stdin, 4096)):
            yield array("d", (float(part) for line in lines for part in line.split(",")))
    async for codes in encode(key, urls, batches()):
        print(*codes, sep="\n")

if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
