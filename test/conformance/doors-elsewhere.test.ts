// The doors that need a bus, a database or another language, driven from the same table as doors.test.ts.

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { DuckDBInstance } from '@duckdb/node-api';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { headers } from '@nats-io/transport-node';
import { CliFolder } from '../support/cli.js';
import {
  type Door,
  drive,
  type Encoded,
  nothing,
  type OpenDoor,
  type Status,
} from '../support/doors/door.js';
import { pairsOf, recordsToCodes } from '../support/doors/doors.js';
import { WorkerProcess } from '../support/engine/frames.js';
import { javaOfTests, noJar } from '../support/java.js';
import { messagesOf, NatsServer, noNats } from '../support/nats.js';
import { noPackage, PYTHON } from '../support/python-env.js';
import { encodeFrame } from '../support/raw-stream.js';

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

/** A program of another language for all questions: each is a line of JSON, and so is its answer. */
class Program {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #answers: AsyncIterator<string>;

  constructor(command: string, args: readonly string[], env = process.env) {
    this.#child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'], env });
    this.#answers = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  async ask<Answer>(question: object): Promise<Answer> {
    this.#child.stdin.write(`${JSON.stringify(question)}\n`);
    return JSON.parse((await this.#answers.next()).value as string) as Answer;
  }

  async close(): Promise<void> {
    this.#child.stdin.end();
    await new Promise((done) => this.#child.once('close', done));
  }
}

const asBase64 = (files: Record<string, Uint8Array<ArrayBuffer>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(files).map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')]),
  );

function openPython(kind: string): OpenDoor {
  const env = { ...process.env, PYTHONUTF8: '1' };
  const program = new Program(PYTHON, ['-B', 'test/support/python_door.py'], env);
  return {
    encode: (positions, resolution) => program.ask({ ask: 'encode', kind, positions, resolution }),
    async decode(texts) {
      const answers = await program.ask<([number, number, number] | null)[]>({ ask: 'decode', kind, texts });
      return answers.map((found) =>
        found === null ? nothing : { lat: found[0], lng: found[1], resolution: found[2] },
      );
    },
    ...(kind === 'single'
      ? { refusal: (files) => program.ask({ ask: 'refusal', kind, files: asBase64(files) }) }
      : {}),
    close: () => program.close(),
  };
}

/** @param kind of the columns that the package is given */
const python = (kind: string): Door => ({
  name: `Python, ${kind}`,
  isOneByOne: kind === 'single',
  missing: noPackage,
  // No text of Arrow or NumPy has half a character.
  carries: (text) => !/[\ud800-\udfff]/u.test(text) && !(kind === 'NumPy' && text.endsWith('\0')),
  open: async () => openPython(kind),
});

const JAVA_STATUSES: Record<string, Status> = {
  OK: 'OK',
  OUTSIDE_COVERAGE: 'NOT_FOUND',
  NOT_A_COORDINATE: 'INVALID_REQUEST',
};

function openJava(kind: string): OpenDoor {
  const program = new Program('java', [...javaOfTests(), 'hexcodes.Door']);
  return {
    async encode(positions, resolution) {
      const question = { kind, ask: 'encode', positions, resolution };
      const found = await program.ask<(Encoded & { status: string })[]>(question);
      return found.map(({ code, status }) => ({ code, status: JAVA_STATUSES[status]! }));
    },
    async decode(texts) {
      const found = await program.ask<([number, number, number] | null)[]>({ kind, ask: 'decode', texts });
      return found.map((row) => (row === null ? nothing : { lat: row[0], lng: row[1], resolution: row[2] }));
    },
    async refusal(files) {
      const question = { kind, ask: 'refusal', files: asBase64(files) };
      return (await program.ask<{ refusal: string | null }>(question)).refusal;
    },
    close: () => program.close(),
  };
}

const java = (kind: string): Door => ({
  name: `Java, ${kind}`,
  isOneByOne: kind === 'single',
  missing: noJar,
  open: async () => openJava(kind),
});

const ELSEWHERE: readonly Door[] = [
  { name: 'bus worker', missing: noNats, open: openBus },
  { name: 'SQL of DuckDB', isBlindToReach: true, open: openSql },
  ...['single', 'list', 'NumPy', 'pandas', 'Polars', 'Arrow'].map(python),
  ...['single', 'batch'].map(java),
];

drive(ELSEWHERE);
