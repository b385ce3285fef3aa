// Clients as people use them, with 60 MB: Python's requests, which sends everything before it reads, curl -T, fetch
// with a streaming body, and a reader that begins twenty seconds after it has sent the last byte.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { Hexcodes } from '#hexcodes';
import { csvBody, dueAnswer, RawBulkPeer, requestHead } from '../support/bulk-bodies.js';
import { ServerProcess } from '../support/server-process.js';
import type { BulkProofOptions } from './bulk-part.js';

const run = promisify(execFile);
const BYTES_A_ROW = 30;
const LATE_MS = 20_000;

const PYTHON = `
import sys, hashlib, requests
url, key, path = sys.argv[1:4]
body = open(path, 'rb').read()
answer = requests.post(url, data=body, headers={'X-API-Key': key, 'Content-Type': 'text/csv', 'Accept-Encoding': 'identity'})
answer.raise_for_status()
print(hashlib.sha256(answer.content).hexdigest())
`;

export default async function habits({ size = 60_000_000, seed }: BulkProofOptions): Promise<string> {
  const { kernel } = await Hexcodes.load();
  const server = await ServerProcess.start();
  try {
    const body = csvBody(seed, Math.ceil(size / BYTES_A_ROW));
    const due = hashOf(dueAnswer(kernel, 'encode', 'csv', body));
    const file = join(server.dataDir, 'in.csv');
    writeFileSync(file, body);
    const url = `${server.base}/hexcodes/encode/bulk`;
    const results: Record<string, () => Promise<string>> = {
      'python requests': async () => {
        const { stdout } = await run('python3', ['-c', PYTHON, url, server.key, file]);
        return stdout.trim();
      },
      'curl -T': async () => {
        const out = join(server.dataDir, 'out.csv');
        const headers = ['-H', `X-API-Key: ${server.key}`, '-H', 'Content-Type: text/csv'];
        await run('curl', ['-sSf', '-X', 'POST', '-T', file, '-o', out, ...headers, url]);
        return hashOf(readFileSync(out));
      },
      'fetch with a stream': async () => {
        const answer = await fetch(url, {
          method: 'POST',
          headers: { 'X-API-Key': server.key, 'Content-Type': 'text/csv' },
          body: Readable.toWeb(createReadStream(file)),
          duplex: 'half',
        } as RequestInit);
        return hashOf(Buffer.from(await answer.arrayBuffer()));
      },
      // Longer than the transport's own patience with a connection on which nothing moves.
      'a reader that begins late': async () => {
        const peer = await RawBulkPeer.connect(server.port);
        peer.socket.pause();
        const hash = createHash('sha256');
        peer.onBody = (bytes) => hash.update(bytes);
        const request = { path: '/v1/hexcodes/encode/bulk', key: server.key, format: 'csv' } as const;
        await peer.send(requestHead(request, body.length));
        await peer.send(body);
        await new Promise((resolve) => setTimeout(resolve, LATE_MS));
        peer.socket.resume();
        await peer.done;
        peer.socket.destroy();
        return peer.isWhole ? hash.digest('hex') : 'cut off';
      },
    };
    for (const [name, ask] of Object.entries(results)) {
      if ((await ask()) !== due) throw new Error(`${name} did not get what is due`);
    }
    return `${body.length} bytes by ${Object.keys(results).join(', ')}: every row`;
  } finally {
    await server.stop();
  }
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
