// One gigabyte of answers through four readers of random pace: hashes equal to what the wire makes of the same rows.
import { createHash } from 'node:crypto';
import { Hexcodes } from '#hexcodes';
import { csvBody, dueAnswer, RawBulkPeer, requestHead } from '../support/bulk-bodies.js';
import { randomFrom } from '../support/open-world.js';
import { ServerProcess } from '../support/server-process.js';
import type { BulkProofOptions } from './bulk-part.js';

const READERS = 4;
const ROWS = 100_000;

export default async function chunked({ size = 1_000_000_000, seed }: BulkProofOptions): Promise<string> {
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
