// A peer that floods the service, as a process of its own: `node build/test/support/peers/flood.js KIND PORT SECONDS
// CLOSINGS`. Prints how many of its connections were closed by the service, as JSON, and ends after that time or that
// many closings.
import { connect, type Socket } from 'node:net';
import { clientFrame, handshake } from '../raw-stream.js';

const PING = 9;

const [kind = '', port = '0', seconds = '1', closings = '1'] = process.argv.slice(2);

/** Some 64 KiB of small requests, which are answered 401. */
const REQUESTS = Buffer.from('GET /v1/meta HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2000));
/** Requests that are answered with a head alone. */
const HEADS = Buffer.from('OPTIONS /v1/meta HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2000));
/** Frames of one position each, without a thought for the window; and empty pings. */
const FRAMES = Buffer.concat(Array.from({ length: 2000 }, () => clientFrame(onePosition())));
const PINGS = Buffer.concat(Array.from({ length: 2000 }, () => clientFrame('', PING)));
const CHUNKS = Buffer.from('1\r\n,\r\n'.repeat(20_000));

/** A request frame of the binary subprotocol: encode to text at resolution 9 (docs/stream.md). */
function onePosition(): Buffer {
  const frame = Buffer.alloc(32);
  frame.set([1, 1, 9]);
  frame.writeUInt32LE(1, 8);
  frame.writeDoubleLE(21.0288, 16);
  frame.writeDoubleLE(105.8525, 24);
  return frame;
}

let closed = 0;
let isOver = false;

function flood(bytes: Buffer, reads: boolean, opening = ''): void {
  const socket: Socket = connect(Number(port), '127.0.0.1');
  if (opening !== '') socket.write(opening);
  if (!reads) socket.pause();
  else socket.resume();
  const send = (): void => {
    while (!isOver && !socket.destroyed && socket.write(bytes));
  };
  socket.on('connect', send);
  socket.on('drain', send);
  socket.on('error', () => {});
  socket.on('close', () => {
    if (isOver) return;
    closed++;
    if (closed >= Number(closings)) return end();
    setTimeout(() => {
      if (!isOver) flood(bytes, reads, opening);
    }, 100);
  });
}

if (kind === 'requests') flood(REQUESTS, true);
else if (kind === 'unread') for (let i = 0; i < 4; i++) flood(REQUESTS, false);
else if (kind === 'unread-heads') for (let i = 0; i < 4; i++) flood(HEADS, false);
else if (kind === 'chunks') {
  const key = process.env.FLOOD_KEY ?? '';
  const head = `POST /v1/hexcodes/encode/bulk HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\nContent-Type: text/csv\r\nTransfer-Encoding: chunked\r\n\r\n8\r\nlat,lng\n\r\n`;
  flood(CHUNKS, true, head);
} else if (kind === 'frames') flood(FRAMES, true, handshake(process.env.FLOOD_KEY ?? ''));
else if (kind === 'pings') flood(PINGS, true, handshake(process.env.FLOOD_KEY ?? ''));

function end(): void {
  isOver = true;
  process.stdout.write(`${JSON.stringify({ closed })}\n`, () => process.exit(0));
}

setTimeout(end, Number(seconds) * 1000);
