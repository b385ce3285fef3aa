// Damaged messages and damaged WebSocket frames on streams to a server in a process of its own. A damaged message is
// answered as the wire answers the same bytes in this process, in its order; damaged WebSocket frames may end the
// connection or leave it silent, and disturb no other.

import type { Kernel } from '#hexcodes';
import { below, inPieces, mutated, pick, type Random } from './random.js';
import {
  BINARY,
  clientFrame,
  countIn,
  decodeFrame,
  encodeFrame,
  handshake,
  RawWebSocket,
  TEXT,
} from './raw-stream.js';
import type { ServerProcess } from './server-process.js';
import { Wire } from './wire.js';

const CONNECTIONS = 32;
const MESSAGES = 100;
const SILENCE_MS = 100;
const HANG_MS = 30_000;
const MAX_POINTS = 60;

export class FramesFuzz {
  messages = 0;
  answered = 0;
  broken = 0;
  readonly faults: string[] = [];
  readonly #wire: Wire;

  /** @param kernel of the same build and map as the server's */
  constructor(
    readonly server: ServerProcess,
    kernel: Kernel,
    readonly random: Random,
  ) {
    this.#wire = new Wire(kernel);
  }

  async run(goesOn: (messages: number) => boolean): Promise<void> {
    const worker = async (): Promise<void> => {
      while (goesOn(this.messages) && this.faults.length < 20 && !this.server.hasEnded) {
        const isBinary = this.random() < 0.5;
        if (this.random() < 0.9) await this.#damagedMessages(isBinary, goesOn);
        else await this.#damagedFrames(isBinary);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, worker));
    if (this.server.hasEnded) this.faults.unshift(`the server did not survive: ${this.server.end}`);
  }

  /** Messages of which each has one answer, at most eight unanswered. */
  async #damagedMessages(isBinary: boolean, goesOn: (messages: number) => boolean): Promise<void> {
    const { random } = this;
    const peer = await this.#open(isBinary);
    for (let sent = 0; sent < MESSAGES && goesOn(this.messages) && this.faults.length < 20; ) {
      const group = Array.from({ length: 1 + below(8, random) }, () => this.#message(isBinary));
      sent += group.length;
      this.messages += group.length;
      const opcode = isBinary ? BINARY : TEXT;
      const bytes = Buffer.concat(group.flatMap((message) => this.#asFrames(message, opcode)));
      for (const piece of inPieces(bytes, random, 4)) peer.socket.write(piece);
      for (const message of group) {
        const due = this.#due(message, isBinary);
        const answer = await within(peer.next());
        if (answer === undefined || !answer.payload.equals(due)) {
          const got = answer?.payload.toString('base64').slice(0, 400) ?? 'nothing';
          this.faults.push(`${message.toString('base64').slice(0, 4000)} was answered ${got}`);
          peer.end();
          return;
        }
        this.answered++;
      }
    }
    peer.end();
  }

  /** WebSocket frames with damaged headers, and whatever follows from that. */
  async #damagedFrames(isBinary: boolean): Promise<void> {
    const { random } = this;
    const peer = await this.#open(isBinary);
    const count = 1 + below(5, random);
    for (let i = 0; i < count; i++) {
      const frame = clientFrame(this.#message(isBinary), isBinary ? BINARY : TEXT);
      const head = mutated(frame.subarray(0, 10), random, ['\x88\x82', '\x89\xfe', '\xff', '\x01', '\0'], 6);
      for (const piece of inPieces(Buffer.concat([head, frame.subarray(10)]), random, 3))
        peer.socket.write(piece);
    }
    this.messages += count;
    this.broken += count;
    await Promise.race([peer.closed, new Promise((resolve) => setTimeout(resolve, SILENCE_MS))]);
    peer.end();
  }

  #open(isBinary: boolean): Promise<RawWebSocket> {
    const protocol = isBinary ? 'hexcodes.v1.binary' : 'hexcodes.v1.json';
    return RawWebSocket.open(
      this.server.port,
      handshake(this.server.key, [`Sec-WebSocket-Protocol: ${protocol}`]),
    );
  }

  /** One message as one WebSocket frame or as several. */
  #asFrames(message: Buffer, opcode: number): Buffer[] {
    const pieces = this.random() < 0.8 ? [message] : inPieces(message, this.random, 4);
    return pieces.map((piece, i) => clientFrame(piece, i === 0 ? opcode : 0, i === pieces.length - 1));
  }

  #due(message: Buffer, isBinary: boolean): Buffer {
    return Buffer.from(isBinary ? this.#wire.frame(message) : this.#wire.jsonFrame(message));
  }

  #message(isBinary: boolean): Buffer {
    const { random } = this;
    if (!isBinary) {
      const damaged = mutated(Buffer.from(jsonMessage(random)), random, JSON_SPLICES, 6);
      // Text that is not UTF-8 ends a connection by the rules of WebSockets.
      return Buffer.from(damaged.toString('utf8'));
    }
    const damaged = mutated(binaryMessage(random), random, ['\xff', '\0\0', '\x01\x01\x0d\0'], 4);
    // Frames of many points go to the pool; a damaged count without its points is answered as malformed.
    return countIn(damaged) > 1e9 ? damaged.subarray(0, 16) : damaged;
  }
}

function binaryMessage(random: Random): Buffer {
  const count = below(MAX_POINTS, random);
  if (random() < 0.5) {
    const pairsDeg = Float64Array.from({ length: 2 * count }, (_, i) =>
      i % 2 === 0 ? 4 + random() * 22 : 99 + random() * 21,
    );
    return encodeFrame(below(2 ** 32, random), pairsDeg, below(16, random), below(2, random));
  }
  const records = Buffer.alloc(20 * count);
  for (let i = 0; i < count; i++)
    records.write(pick(['HN-6GHP4-83RFR', 'nope', 'hcm gxc6j 96qgc'], random), 20 * i);
  return decodeFrame(below(2 ** 32, random), records);
}

function jsonMessage(random: Random): string {
  const seq = below(2 ** 32, random);
  const count = below(MAX_POINTS, random);
  if (random() < 0.5) {
    const hexcodes = Array.from({ length: count }, () => pick(['HN-6GHP4-83RFR', 'nope', 'đn'], random));
    return JSON.stringify({ seq, op: 'decode', hexcodes });
  }
  const points = Array.from({ length: count }, (_, i) => {
    const [latDeg, lngDeg] = [4 + random() * 22, 99 + random() * 21];
    return random() < 0.5 ? [latDeg, lngDeg] : { lat: latDeg, lng: lngDeg, id: i };
  });
  return JSON.stringify({ seq, op: 'encode', resolution: below(17, random), points });
}

const JSON_SPLICES = [
  ...[
    '"',
    ',',
    ',,',
    '[',
    ']',
    '{',
    '}',
    ':',
    '\\',
    '\\u0000',
    '\\ud800',
    '\0',
    ' ',
    '\n',
    '1e400',
    '-0',
    'null',
  ],
  ...['"seq":1,', '"op":"encode",', '"points":[],', '"resolution":9,', 'true', `${'[1,2],'.repeat(100)}`],
];

/** The value of a promise; undefined where it fails or takes too long. */
function within<T>(promise: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), HANG_MS);
    promise.then(resolve, () => resolve(undefined)).finally(() => clearTimeout(timer));
  });
}
