// Binary frames on the real server: answers equal those of the library, in order, through the client and raw sockets.
import { expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { HexcodesClient } from '#hexcodes/client';
import { openKernel, pointsOf } from '../../../support/open-world.js';
import {
  BINARY,
  clientFrame,
  decodeFrame,
  encodeFrame,
  handshake,
  isCutOfTheTransport,
  RawWebSocket,
  TEXT,
} from '../../../support/raw-stream.js';
import { sharedServer } from '../../../support/shared.js';
import { Wire } from '../../../support/wire.js';

const kernel = openKernel();
const library = new Hexcodes(openKernel());

const server = sharedServer();

const open = (...lines: string[]): Promise<RawWebSocket> =>
  RawWebSocket.open(server.port, lines.length > 0 ? handshake(server.key, lines) : handshake(server.key));

const due = (frame: Uint8Array): Buffer => Buffer.from(new Wire(kernel).frame(frame));

test.each([1, 100, 4096, 65_536])(
  'equal those of the library through the client, with %i points a frame',
  async (framePoints) => {
    const pairs = pointsOf(framePoints, 70_000 / (framePoints === 1 ? 100 : 1));
    const client = new HexcodesClient({ baseUrl: `${server.base}/v1`, apiKey: server.key });
    const records = library.encodeBatch(pairs, 12);
    const texts = Buffer.alloc(records.length);
    const encoding = client.stream({ operation: 'encode', resolution: 12, source: [pairs], framePoints });
    for await (const answer of encoding) texts.set(answer.records, answer.firstIndex * 20);
    expect(texts.equals(records)).toBe(true);

    let next = 0;
    for await (const answer of client.stream({
      operation: 'encode',
      resolution: 12,
      output: 'cells',
      source: [pairs],
      framePoints,
    })) {
      expect(answer.firstIndex).toBe(next);
      for (let i = 0; i < answer.count; i++) {
        const record = texts.subarray((next + i) * 20, (next + i) * 20 + 20);
        const code = record.subarray(0, 19).toString('latin1').replace(/\0+$/, '');
        const read = code === '' ? null : library.read(code);
        if (answer.cell(i) !== (read?.cell ?? 0n)) expect.fail(`cell of point ${next + i}`);
        if (answer.adminCode(i) !== (read?.admin_code ?? null)) expect.fail(`province of point ${next + i}`);
      }
      next += answer.count;
    }
    expect(next).toBe(pairs.length / 2);

    const decoded = library.decodeBatch(records);
    const positions = new Float64Array(pairs.length);
    for await (const answer of client.stream({ operation: 'decode', source: [texts], framePoints })) {
      for (let i = 0; i < answer.count; i++) {
        positions[(answer.firstIndex + i) * 2] = answer.lat(i);
        positions[(answer.firstIndex + i) * 2 + 1] = answer.lng(i);
      }
    }
    expect(positions).toEqual(decoded.latLng);
  },
);

test('arrive in the order of the frames, small ones after large ones', async () => {
  const peer = await open();
  const sizes = [30_000, 1, 0, 20_000, 2, 4096, 4097, 5];
  const frames = sizes.map((size, i) => encodeFrame(1000 - i, pointsOf(i, size)));
  for (const frame of frames) peer.send(frame);
  for (const frame of frames) {
    const { payload, opcode } = await peer.next();
    expect(opcode).toBe(BINARY);
    expect(payload.equals(due(frame))).toBe(true);
  }
  peer.end();
});

test('a malformed frame is answered, and so are the frames behind it', async () => {
  const peer = await open();
  const good = encodeFrame(7, pointsOf(7, 3));
  const bad = [Buffer.alloc(0), Buffer.alloc(15), good.subarray(0, 40), Buffer.from(good).fill(9, 1, 2)];
  for (const frame of bad) {
    peer.send(frame);
    peer.send(good);
    expect((await peer.next()).payload.equals(due(frame))).toBe(true);
    expect((await peer.next()).payload.equals(due(good))).toBe(true);
  }
  peer.end();
});

test('a message in fragments is one frame, with a ping between them', async () => {
  const peer = await open();
  const frame = encodeFrame(5, pointsOf(5, 300));
  const parts = [clientFrame(frame.subarray(0, 7), BINARY, false), clientFrame('are you there', 9)];
  parts.push(clientFrame(frame.subarray(7, 1000), 0, false), clientFrame(frame.subarray(1000), 0));
  peer.socket.write(Buffer.concat(parts));
  expect((await peer.next()).payload.toString()).toBe('are you there');
  expect((await peer.next()).payload.equals(due(frame))).toBe(true);
  peer.end();
});

test('frames and handshakes cut anywhere into two segments are answered as uncut ones', async () => {
  const opening = Buffer.from(handshake(server.key), 'latin1');
  const frame = encodeFrame(1, pointsOf(1, 4));
  const frames = [frame, decodeFrame(2, due(frame).subarray(16))];
  const bytes = Buffer.concat(frames.map((f) => clientFrame(f)));
  const segment = () => new Promise((resolve) => setTimeout(resolve, 3));
  let openingCut = 0;
  let frameCut = 0;
  const peers = Array.from({ length: 16 }, async () => {
    // Every cut of a handshake needs a connection of its own; the cuts of frames share the last one.
    let peer: RawWebSocket | undefined;
    while (openingCut < opening.length - 1) {
      const cut = ++openingCut;
      peer?.end();
      peer = await RawWebSocket.connect(server.port, opening.toString('latin1', 0, cut));
      await segment();
      peer.socket.write(opening.subarray(cut));
      if (isCutOfTheTransport(opening, cut)) {
        // On a busy machine the two segments may arrive as one.
        await Promise.race([peer.closed, peer.next().catch(() => {})]);
        expect(peer.head, `handshake cut at ${cut}`).toMatch(/^HTTP\/1.1 (505|101) /);
      } else {
        expect((await peer.next()).opcode, `handshake cut at ${cut}`).toBe(TEXT);
      }
    }
    while (frameCut < bytes.length - 1) {
      const cut = ++frameCut;
      peer!.socket.write(bytes.subarray(0, cut));
      await segment();
      peer!.socket.write(bytes.subarray(cut));
      for (const f of frames) {
        expect((await peer!.next()).payload.equals(due(f)), `frames cut at ${cut}`).toBe(true);
      }
    }
    peer!.end();
  });
  await Promise.all(peers);
});
