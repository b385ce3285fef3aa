// `npm run proof -- bulk [--part NAME] [--size POINTS] [--seed S]`: long bodies through the real server, peers that
// read badly, workers that die. Small twins: test/e2e/server/bulk and server/stream.
import { createHash } from 'node:crypto';
import type { Pool } from '#dist/pool/pool.js';
import { Hexcodes } from '#hexcodes';
import { HexcodesClient } from '#hexcodes/client';
import { csvBody, dueAnswer, exchangeBulk, RawBulkPeer, requestHead } from '../support/bulk-bodies.js';
import { openKernel, pointsOf, randomFrom } from '../support/open-world.js';
import { clientFrame, handshake, RawWebSocket } from '../support/raw-websocket.js';
import { startServer } from '../support/server.js';
import { ServerProcess } from '../support/server-process.js';
import { encodeFrame } from '../support/stream-frames.js';
import { optionsOf } from './run-length.js';

interface Options {
  readonly size: number | undefined;
  readonly seed: number;
}

/** Each resolves to what it found, in one line; rejects where something is not as it must be. */
const PARTS: Record<string, (options: Options) => Promise<string>> = { stream, stalled, kills, chunked };

export default async function bulk(args: string[]): Promise<void> {
  const values = optionsOf(args, { part: undefined, size: undefined, seed: '1' });
  const options = {
    size: values.size === undefined ? undefined : Number(values.size),
    seed: Number(values.seed),
  };
  for (const name of values.part === undefined ? Object.keys(PARTS) : [values.part]) {
    const part = PARTS[name];
    if (part === undefined)
      throw new Error(`There is no part ${name}; there are ${Object.keys(PARTS).join(', ')}`);
    console.log(`bulk ${name}: ${await part(options)}`);
  }
}

const CHUNK_POINTS = 65_536;

/** Ten million points through one WebSocket: every one answered, in order, equal to the library's answer. */
async function stream({ size = 10_000_000, seed }: Options): Promise<string> {
  const library = await Hexcodes.load();
  const server = await ServerProcess.start();
  try {
    const idleMb = server.memoryMb().now;
    server.resetPeak();
    const client = new HexcodesClient({ baseUrl: server.base, apiKey: server.key });
    const answers = client.stream({ operation: 'encode', source: chunks(size, seed) });
    // The same points once more, to be encoded here.
    const again = chunks(size, seed);
    let due = new Uint8Array(0);
    let dueAt = 0;
    let points = 0;
    for await (const answer of answers) {
      if (answer.firstIndex !== points)
        throw new Error(`answers to ${answer.firstIndex} where ${points} was due`);
      const { records } = answer;
      for (let at = 0; at < records.length; ) {
        if (dueAt === due.length) {
          due = new Uint8Array(library.encodeBatch(again.next().value as Float64Array));
          dueAt = 0;
        }
        const count = Math.min(records.length - at, due.length - dueAt);
        const isEqual =
          Buffer.compare(records.subarray(at, at + count), due.subarray(dueAt, dueAt + count)) === 0;
        if (!isEqual) throw new Error(`an answer near point ${points} differs from the library's`);
        at += count;
        dueAt += count;
      }
      points += answer.count;
    }
    if (points !== size) throw new Error(`${points} of ${size} points answered`);
    const { peak } = server.memoryMb();
    const grownMb = peak - idleMb;
    if (grownMb > 64) throw new Error(`memory grew from ${idleMb} to ${peak} MB`);
    return `${points} points equal to the library's, in order; memory ${idleMb.toFixed(0)} MB idle, ${peak.toFixed(0)} MB at most`;
  } finally {
    await server.stop();
  }
}

function* chunks(size: number, seed: number): Generator<Float64Array, undefined> {
  const random = randomFrom(seed);
  for (let first = 0; first < size; first += CHUNK_POINTS) {
    const pairsDeg = new Float64Array(2 * Math.min(CHUNK_POINTS, size - first));
    for (let i = 0; i < pairsDeg.length; i += 2) {
      pairsDeg[i] = 8 + random() * 15.5;
      pairsDeg[i + 1] = 102 + random() * 8;
    }
    yield pairsDeg;
  }
}

const ROUNDS = 5;
/** Pairs of spells in a round, one at each server: a single one is at the mercy of the machine. */
const PAIRS = 8;
const SPELL_POINTS = 4_000_000;

/**
 * A healthy client beside 100 HTTP and 100 WebSocket readers that take nothing: its rate there and at a server without
 * them, in turns, and the memory of the one that has them.
 */
async function stalled({ size = 100 }: Options): Promise<string> {
  const quiet = await ServerProcess.start();
  const crowded = await ServerProcess.start();
  try {
    const idleMb = crowded.memoryMb().now;
    crowded.resetPeak();
    const body = csvBody(1, 100_000);
    const frame = clientFrame(encodeFrame(1, pointsOf(1, 4096)));
    const ratios: number[] = [];
    await rate(quiet);
    await rate(crowded);
    for (let round = 0; round < ROUNDS; round++) {
      const http = await Promise.all(
        Array.from({ length: size }, async () => {
          const peer = await RawBulkPeer.connect(crowded.port);
          peer.socket.pause();
          const request = { path: '/v1/hexcodes/encode/bulk', key: crowded.key, format: 'csv' } as const;
          peer.socket.write(requestHead(request, body.length * 2));
          peer.socket.write(body);
          return peer;
        }),
      );
      const sockets = await Promise.all(
        Array.from({ length: size }, async () => {
          const peer = await RawWebSocket.open(crowded.port, handshake(crowded.key));
          peer.socket.pause();
          for (let i = 0; i < 16; i++) peer.socket.write(frame);
          return peer;
        }),
      );
      // Waits until they all make no progress.
      await new Promise((resolve) => setTimeout(resolve, 5000));
      for (let pair = 0; pair < PAIRS; pair++) {
        const order = pair % 2 === 0 ? [quiet, crowded] : [crowded, quiet];
        const rates = new Map<ServerProcess, number>();
        for (const server of order) rates.set(server, await rate(server));
        ratios.push(rates.get(crowded)! / rates.get(quiet)!);
      }
      for (const peer of http) peer.socket.destroy();
      for (const peer of sockets) peer.end();
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
    const ratio = median(ratios);
    const { peak } = crowded.memoryMb();
    if (ratio < 0.9) throw new Error(`the healthy client kept ${ratio.toFixed(2)} of its rate`);
    return `beside ${size} + ${size} stalled readers a client kept ${ratio.toFixed(2)} of its rate (median of ${ROUNDS} × ${PAIRS} pairs); memory ${idleMb.toFixed(0)} MB idle, ${peak.toFixed(0)} MB at most`;
  } finally {
    await quiet.stop();
    await crowded.stop();
  }
}

/** Points a second of one healthy stream. */
async function rate(server: ServerProcess): Promise<number> {
  const pairsDeg = pointsOf(2, 65_536);
  const source = Array.from({ length: Math.ceil(SPELL_POINTS / 65_536) }, () => pairsDeg);
  const client = new HexcodesClient({ baseUrl: server.base, apiKey: server.key });
  const start = performance.now();
  let points = 0;
  for await (const answer of client.stream({ operation: 'encode', source })) points += answer.count;
  return points / (performance.now() - start);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

/** Workers killed 200 times while CSV bodies are answered: every answer whole, no row lost or doubled. */
async function kills({ size = 200, seed }: Options): Promise<string> {
  let pool: Pool | undefined;
  const server = await startServer({}, undefined, {
    withPool: (made) => {
      pool = made;
    },
  });
  const random = randomFrom(seed);
  const body = csvBody(seed, 400_000);
  const due = dueAnswer(openKernel(), 'encode', 'csv', body);
  const request = { path: '/v1/hexcodes/encode/bulk', key: server.key, format: 'csv' } as const;
  let killed = 0;
  let bodies = 0;
  try {
    while (killed < size) {
      let running = true;
      const exchange = exchangeBulk(server.port, request, body).finally(() => {
        running = false;
      });
      while (running && killed < size) {
        await new Promise((resolve) => setTimeout(resolve, random() * 30));
        if (pool!.figures.blocks === 0) continue;
        const { completed } = pool!.figures;
        const { loadedWorkers } = pool!;
        const worker = loadedWorkers[Math.floor(random() * loadedWorkers.length)];
        if (worker === undefined) continue;
        await worker.terminate();
        killed++;
        // A block is tried three times: let those that were hit get through before the next blow.
        while (running && pool!.figures.completed < completed + 8) {
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      }
      const peer = await exchange;
      if (!peer.isWhole || !peer.body.equals(due)) throw new Error(`answer ${bodies} is not what is due`);
      bodies++;
    }
    const { lostWorkers } = pool!.figures;
    return `${killed} workers killed under ${bodies} bodies of 400,000 rows, ${lostWorkers} blocks hit; every answer whole and equal`;
  } finally {
    await server.stop();
  }
}

const READERS = 4;
const ROWS = 100_000;

/**
 * One gigabyte of answers through four readers of random pace: hashes equal to what the wire makes of the same rows.
 */
async function chunked({ size = 1_000_000_000, seed }: Options): Promise<string> {
  const { kernel } = await Hexcodes.load();
  const server = await ServerProcess.start();
  try {
    const read = async (reader: number): Promise<number> => {
      const random = randomFrom(seed * 100 + reader);
      const part = csvBody(seed * 100 + reader, ROWS);
      const rows = part.subarray(part.indexOf('\n') + 1);
      const due = dueAnswer(kernel, 'encode', 'csv', part);
      const dueRows = due.subarray(due.indexOf('\n') + 1);
      const repeats = Math.ceil(size / READERS / dueRows.length);
      const dueHash = createHash('sha256').update(due);
      for (let i = 1; i < repeats; i++) dueHash.update(dueRows);
      const hash = createHash('sha256');
      const peer = await RawBulkPeer.connect(server.port);
      let untilRest = 0;
      peer.onBody = (bytes) => {
        hash.update(bytes);
        untilRest -= bytes.length;
        if (untilRest > 0) return;
        untilRest = random() * 8_000_000;
        peer.socket.pause();
        setTimeout(() => peer.socket.resume(), random() * 60);
      };
      const request = { path: '/v1/hexcodes/encode/bulk', key: server.key, format: 'csv' } as const;
      await peer.send(requestHead(request, part.length + rows.length * (repeats - 1)));
      await peer.send(part);
      for (let i = 1; i < repeats; i++) await peer.send(rows);
      await peer.done;
      peer.socket.destroy();
      if (!peer.isWhole || hash.digest('hex') !== dueHash.digest('hex')) {
        throw new Error(
          `reader ${reader}: ${peer.sizeBytes} bytes, whole: ${peer.isWhole}, hash differs or answer cut`,
        );
      }
      return peer.sizeBytes;
    };
    const sizes = await Promise.all(Array.from({ length: READERS }, (_, reader) => read(reader)));
    const total = sizes.reduce((sum, bytes) => sum + bytes, 0);
    return `${total} bytes to ${READERS} readers of random pace, all hashes equal`;
  } finally {
    await server.stop();
  }
}
