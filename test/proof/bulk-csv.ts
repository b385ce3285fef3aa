// Ten million rows in one CSV upload: every row answered, in order, byte for byte what the library's answers make of
// it, while the answer is read as it comes.
import { Hexcodes } from '#hexcodes';
import { RawBulkPeer } from '../support/bulk-bodies.js';
import { randomFrom } from '../support/open-world.js';
import { ServerProcess } from '../support/server-process.js';
import type { BulkProofOptions } from './bulk-part.js';

const PART_ROWS = 16_384;

interface Part {
  readonly body: Buffer;
  readonly due: Buffer;
}

export default async function csv({ size = 10_000_000, seed }: BulkProofOptions): Promise<string> {
  const library = await Hexcodes.load();
  const server = await ServerProcess.start();
  try {
    const idleMb = server.memoryMb().now;
    server.resetPeak();
    const peer = await RawBulkPeer.connect(server.port);
    const due: Buffer[] = [Buffer.from('lat,lng,hexcodes,resolution,admin_code,status\n')];
    let dueBytes = due[0]!.length;
    let answeredBytes = 0;
    let wake = (): void => {};
    let failure: Error | undefined;
    peer.onBody = (bytes) => {
      for (let at = 0; at < bytes.length && failure === undefined; ) {
        const head = due[0];
        if (head === undefined) {
          failure = new Error('more was answered than was sent');
          break;
        }
        const count = Math.min(head.length, bytes.length - at);
        if (bytes.compare(head, 0, count, at, at + count) !== 0) {
          failure = new Error(`the answer differs near byte ${answeredBytes + at}`);
        }
        due[0] = head.subarray(count);
        if (due[0].length === 0) due.shift();
        at += count;
      }
      answeredBytes += bytes.length;
      wake();
    };
    const head = ['POST /v1/hexcodes/encode/bulk HTTP/1.1', 'Host: localhost', `X-API-Key: ${server.key}`];
    head.push('Content-Type: text/csv', 'Transfer-Encoding: chunked', '\r\n');
    await peer.send(head.join('\r\n'));
    await peer.send(chunkOf(Buffer.from('lat,lng\n')));
    for (const { body, due: rows } of parts(library, size, seed)) {
      due.push(rows);
      dueBytes += rows.length;
      await peer.send(chunkOf(body));
      if (failure !== undefined) throw failure;
      // Rows that are due are kept here until they are answered; the bytes of them are bounded.
      while (dueBytes - answeredBytes > 64 * 2 ** 20) await new Promise<void>((resolve) => (wake = resolve));
    }
    await peer.send('0\r\n\r\n');
    await peer.done;
    if (failure !== undefined) throw failure;
    if (!peer.isWhole || answeredBytes !== dueBytes) {
      throw new Error(`${answeredBytes} bytes of ${dueBytes} answered, whole: ${peer.isWhole}`);
    }
    peer.socket.destroy();
    const { peak } = server.memoryMb();
    if (peak - idleMb > 64) throw new Error(`memory grew from ${idleMb} to ${peak} MB`);
    return `${size} rows (${answeredBytes} bytes) as due; memory ${idleMb.toFixed(0)} MB idle, ${peak.toFixed(0)} MB at most`;
  } finally {
    await server.stop();
  }
}

function chunkOf(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

function* parts(library: Hexcodes, size: number, seed: number): Generator<Part> {
  const random = randomFrom(seed);
  for (let first = 0; first < size; first += PART_ROWS) {
    const rows = Math.min(PART_ROWS, size - first);
    const texts: string[] = [];
    const pairsDeg = new Float64Array(2 * rows);
    for (let i = 0; i < rows; i++) {
      const lat = (8 + random() * 15.5).toFixed(6);
      const lng = (102 + random() * 8).toFixed(6);
      texts.push(`${lat},${lng}`);
      pairsDeg.set([Number(lat), Number(lng)], 2 * i);
    }
    const records = Buffer.from(library.encodeBatch(pairsDeg));
    const answers = texts.map((text, i) => {
      const code = records.toString('latin1', i * 20, i * 20 + 19).replace(/\0+$/, '');
      return code === '' ? `${text},,13,,NOT_FOUND\n` : `${text},${code},13,${code.split('-')[0]},OK\n`;
    });
    yield { body: Buffer.from(`${texts.join('\n')}\n`), due: Buffer.from(answers.join('')) };
  }
}
