// The requests of the HTTP bench and the client that sends them: raw bytes on net sockets, a fixed number in flight on
// each. Every answer is read to its end and must be 200; anything else aborts the run.
import { connect } from 'node:net';
import { BENCH_KEY } from '../service.js';

/** Encode requests for positions, with six decimals. @param positions latDeg, lngDeg of each */
export function encodeRequests(positions: Float64Array): Buffer[] {
  return Array.from({ length: positions.length / 2 }, (_, n) => {
    const [lat, lng] = [positions[2 * n]!.toFixed(6), positions[2 * n + 1]!.toFixed(6)];
    const target = `/v1/hexcodes/encode?lat=${lat}&lng=${lng}&apikey=${BENCH_KEY}`;
    return Buffer.from(
      `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: bench/1.0\r\nAccept: */*\r\n\r\n`,
    );
  });
}

/** JSON batches of ten of the positions each. */
export function batchRequests(positions: Float64Array): Buffer[] {
  const points = Array.from({ length: positions.length / 2 }, (_, n) => {
    const [lat, lng] = [positions[2 * n]!.toFixed(6), positions[2 * n + 1]!.toFixed(6)];
    return `{"lat":${lat},"lng":${lng},"id":${n}}`;
  });
  return Array.from({ length: Math.floor(points.length / 10) }, (_, n) => {
    const body = `{"points":[${points.slice(10 * n, 10 * n + 10).join(',')}]}`;
    return Buffer.from(
      `POST /v1/hexcodes/encode/batch HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nX-API-Key: ${BENCH_KEY}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
  });
}

const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n');

/**
 * Sends `total` requests over `connections`, `depth` in flight on each; rejects at the first answer that is not 200.
 */
export function sendAll(
  port: number,
  requests: readonly Buffer[],
  total: number,
  connections: number,
  depth: number,
): Promise<void> {
  let started = 0;
  let open = connections;
  return new Promise((resolve, reject) => {
    for (let i = 0; i < connections; i++) {
      const socket = connect(port, '127.0.0.1');
      socket.setNoDelay(true);
      let owed = 0;
      let held: Buffer = Buffer.alloc(0);
      const send = (): void => {
        const count = Math.min(depth - owed, total - started);
        if (count === 0 && owed === 0) {
          socket.destroy();
          if (--open === 0) resolve();
          return;
        }
        const batch: Buffer[] = [];
        for (let k = 0; k < count; k++) batch.push(requests[started++ % requests.length] as Buffer);
        owed += count;
        socket.write(count === 1 ? (batch[0] as Buffer) : Buffer.concat(batch));
      };
      socket.on('connect', send);
      socket.on('error', reject);
      socket.on('data', (bytes: Buffer) => {
        let data: Buffer = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
        for (;;) {
          const headEnd = data.indexOf(HEAD_END);
          if (headEnd === -1) break;
          const head = data.toString('latin1', 0, headEnd);
          if (!head.startsWith('HTTP/1.1 200')) {
            reject(new Error(`an answer of the bench is not 200: ${head}`));
            return;
          }
          const size = /content-length: (\d+)/i.exec(head)?.[1];
          // Frameworks may answer in chunks.
          const last = size === undefined ? data.indexOf(LAST_CHUNK, headEnd) : -1;
          if (size === undefined && last === -1) break;
          const end = size === undefined ? last + LAST_CHUNK.length : headEnd + 4 + Number(size);
          if (data.length < end) break;
          data = data.subarray(end);
          owed--;
        }
        held = data;
        if (owed === 0) send();
      });
    }
  });
}
