// Doors that need a bus, a database or another language.

import { readFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { headers } from '@nats-io/transport-node';
import { CliFolder } from '../cli.js';
import { WorkerProcess } from '../engine/worker-process.js';
import { messagesOf, NatsServer, noNats } from '../nats.js';
import { noPackage, runPython } from '../python-env.js';
import { encodeFrame } from '../stream-frames.js';
import { type Door, nothing, type OpenDoor } from './door.js';
import { pairsOf, recordsToCodes } from './library.js';

async function openBus(): Promise<OpenDoor> {
  const folder = new CliFolder();
  const server = await NatsServer.start();
  const names = ['--stream', 'in', '--answers', 'out', '--dead', 'dead', '--dead-subject', 'dead'];
  const words = [...names, '--map', 'in.>=out.>'];
  const made = await folder.run(['worker', 'setup', '--nats', server.url, ...words, '--max-bytes', '32M']);
  if (made.code !== 0) throw new Error(made.stderr);
  const connection = await server.connect();
  const worker = new WorkerProcess(server.url, words);
  let sent = 0;
  return {
    async encode(positions, resolution) {
      const id = `m${++sent}`;
      const own = headers();
      own.set('Nats-Msg-Id', id);
      const frame = encodeFrame(sent, pairsOf(positions), resolution);
      await jetstream(connection).publish('in.a', frame, { headers: own });
      const manager = await jetstreamManager(connection);
      for (;;) {
        if ((await manager.streams.info('out')).state.messages >= sent) break;
        await new Promise((done) => setTimeout(done, 50));
      }
      const answer = (await messagesOf(connection, 'out')).find(
        (message) => message.headers.get('Hexcodes-Id') === id,
      );
      return recordsToCodes(answer!.bytes.subarray(16));
    },
    async close() {
      await worker.end('SIGKILL');
      folder.remove();
      await server.remove();
    },
  };
}

async function openSql(): Promise<OpenDoor> {
  const connection = await (await DuckDBInstance.create()).connect();
  await connection.run(readFileSync('docs/sql/hexcodes-duckdb.sql', 'utf8'));
  return {
    async canonical(texts) {
      await connection.run('CREATE OR REPLACE TABLE texts (i INTEGER, t VARCHAR)');
      const rows = await connection.createAppender('texts');
      texts.forEach((text, i) => {
        rows.appendInteger(i);
        rows.appendVarchar(text);
        rows.endRow();
      });
      rows.closeSync();
      const read = await connection.runAndReadAll('SELECT hexcode_canonical(t) FROM texts ORDER BY i');
      return read.getRowsJson().map(([code]) => code as string | null);
    },
    close: () => connection.closeSync(),
  };
}

/** A program of another language: a question as JSON on standard input, its answer on standard output. */
async function ask<Answer>(question: object): Promise<Answer> {
  const { code, stdout, stderr } = await runPython(['test/support/python_door.py'], {
    input: JSON.stringify(question),
  });
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Answer;
}

/** @param kind of the columns that the package is given */
const python = (kind: string): Door => ({
  name: `Python, ${kind}`,
  isOneByOne: kind === 'single',
  missing: noPackage,
  // No text of Arrow or NumPy has half a character.
  carries: (text) => !/[\ud800-\udfff]/u.test(text) && !(kind === 'NumPy' && text.endsWith('\0')),
  open: async () => ({
    encode: (positions, resolution) => ask({ ask: 'encode', kind, positions, resolution }),
    decode: async (texts) => {
      const answers = await ask<([number, number, number] | null)[]>({ ask: 'decode', kind, texts });
      return answers.map((found) =>
        found === null ? nothing : { lat: found[0], lng: found[1], resolution: found[2] },
      );
    },
    ...(kind === 'single'
      ? {
          refusal: (files) =>
            ask({
              ask: 'refusal',
              files: Object.fromEntries(
                Object.entries(files).map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')]),
              ),
            }),
        }
      : {}),
  }),
});

export const ELSEWHERE: readonly Door[] = [
  { name: 'bus worker', missing: noNats, open: openBus },
  { name: 'SQL of DuckDB', isBlindToReach: true, open: openSql },
  ...['single', 'list', 'NumPy', 'pandas', 'Polars', 'Arrow'].map(python),
];
