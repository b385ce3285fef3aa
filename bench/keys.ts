// `npm run bench -- keys [--keys 100000] [--rounds 5]`: what many keys cost. Two services, one with a single key and
// one with many in its store: CPU of a start, memory, CPU of a request with all keys in turn, and how long the main
// thread is held while the usage of all of them is stored and a key is changed. Rounds are interleaved.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { DEFAULT_SCOPES, type StoredKey } from '#dist/server/keys/key-record.js';
import { digestOf, pepperCheckOf, readOrMakePepper } from '#dist/server/keys/secret.js';
import { openOrMakeStore, openStore } from '#dist/server/keys/store/open-store.js';
import { sendAll } from './http/requests.js';
import { bindLoad, ServerProcess, uwsVersion } from './server-process.js';
import { BenchTable, head, spread, spreadText } from './table.js';
import type { ServiceState } from './watched-service.js';

const PROGRAM = new URL('./watched-service.js', import.meta.url);
/** As often as the service stores usage, and a while. */
const FLUSHED_MS = 11_000;

interface KeyFolder {
  readonly folder: string;
  readonly texts: readonly string[];
}

async function folderOf(count: number): Promise<KeyFolder> {
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-bench-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const pepper = readOrMakePepper(folder, 0, folder);
  const texts = Array.from({ length: count }, (_, n) => `hxk_bench_${String(n).padStart(33, '0')}`);
  const store = await openOrMakeStore({ dataDir: folder, url: undefined });
  await store.inTransaction(async () => {
    await store.setPepperCheck(pepperCheckOf(pepper));
    for (const [n, text] of texts.entries()) await store.put(keyOf(n, digestOf(text, pepper)));
  });
  await store.close();
  return { folder, texts };
}

function keyOf(n: number, digest: Buffer): StoredKey {
  return {
    ...{
      id: `k${n.toString(16).padStart(11, '0')}`,
      name: `customer ${n}`,
      state: 'active',
      createdMs: 1.7e12 + n,
    },
    ...{
      scopes: DEFAULT_SCOPES,
      expiresMs: undefined,
      origins: [],
      cidrs: [],
      limits: {},
      lastUsedMs: undefined,
    },
    ...{
      digestHex: digest.toString('hex'),
      generation: 1,
      formerDigestHex: undefined,
      formerUntilMs: undefined,
    },
  };
}

const requestOf = (text: string): Buffer =>
  Buffer.from(
    `GET /v1/hexcodes/encode?lat=21.028800&lng=105.852500 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nX-API-Key: ${text}\r\n\r\n`,
  );

/** One service, and what was measured of it. */
class Subject {
  readonly startMs: number[] = [];
  readonly requestMicros: number[] = [];
  readonly mainMicros: number[] = [];
  readonly holdMs: number[] = [];
  idleBytes = 0;
  activeBytes = 0;
  #server: ServerProcess | undefined;
  readonly #requests: readonly Buffer[];

  constructor(private readonly keys: KeyFolder) {
    this.#requests = keys.texts.map(requestOf);
  }

  /** Starts the service, instead of the one before. */
  async start(): Promise<void> {
    this.end();
    this.#server = await ServerProcess.start(PROGRAM, JSON.stringify({ dataDir: this.keys.folder }));
    this.startMs.push(this.#server.startMicros / 1000);
    await sleep(500);
    this.idleBytes = (await this.#state()).memoryBytes;
  }

  async load(total: number, isMeasured: boolean): Promise<void> {
    const server = this.#server!;
    const before = await this.#state();
    const mainBefore = server.mainThreadMicros();
    await sendAll(server.port, this.#requests, total, 8, 8);
    const mainMicros = server.mainThreadMicros() - mainBefore;
    const { cpuMicros } = await this.#state();
    if (!isMeasured) return;
    this.requestMicros.push((cpuMicros - before.cpuMicros) / total);
    this.mainMicros.push(mainMicros / total);
  }

  /** Waits until usage is stored, with a request now and then, and a key that is changed. */
  async rest(): Promise<void> {
    await this.#server!.ask('mark');
    await sendAll(this.#server!.port, this.#requests, this.#requests.length, 1, 1);
    await sleep(FLUSHED_MS);
    const store = await openStore({ dataDir: this.keys.folder, url: undefined });
    const [first] = await store.keys();
    await store.inTransaction(() => store.put({ ...first!, name: `${first!.name}, renamed` }));
    await store.close();
    await sleep(1000);
    const { holdMs, memoryBytes } = await this.#state();
    this.holdMs.push(holdMs);
    this.activeBytes = memoryBytes;
  }

  end(): void {
    this.#server?.end();
    this.#server = undefined;
  }

  async #state(): Promise<ServiceState> {
    return (await this.#server!.ask('state')) as ServiceState;
  }
}

export default async function benchKeys(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { keys: { type: 'string', default: '100000' }, rounds: { type: 'string', default: '5' } },
  });
  const count = Number(values.keys);
  const rounds = Number(values.rounds);
  const headOfRun = head([], await uwsVersion());
  const [one, many] = [new Subject(await folderOf(1)), new Subject(await folderOf(count))];
  bindLoad();
  const notes = `${rounds} rounds of ${count} requests by 8 connections, 8 in flight; starts in new processes.`;
  const table = new BenchTable('keys', headOfRun, ['', 'one key', `${count} keys`], notes, { count, rounds });
  for (let round = 0; round < rounds; round++) {
    await one.start();
    await many.start();
  }
  for (let round = -1; round < rounds; round++) {
    for (const subject of round % 2 === 0 ? [one, many] : [many, one]) await subject.load(count, round >= 0);
  }
  for (const subject of [one, many]) await subject.rest();
  for (const subject of [one, many]) subject.end();
  const text = (numbers: number[], digits: number): string => spreadText(spread(numbers), digits);
  const ratios = (of: (subject: Subject) => number[]): string =>
    text(
      of(many).map((micros, round) => micros / of(one)[round]!),
      2,
    );
  const eachBytes = (ofMany: number, ofOne: number): string =>
    String(Math.round((ofMany - ofOne) / (count - 1)));
  const rows = [
    ['start, CPU ms', text(one.startMs, 0), text(many.startMs, 0)],
    ['memory after the start, MB', (one.idleBytes / 1e6).toFixed(0), (many.idleBytes / 1e6).toFixed(0)],
    ['of it for each key, bytes', '', eachBytes(many.idleBytes, one.idleBytes)],
    [
      'memory when all were used, MB',
      (one.activeBytes / 1e6).toFixed(0),
      (many.activeBytes / 1e6).toFixed(0),
    ],
    ['of it for each key, bytes', '', eachBytes(many.activeBytes, one.activeBytes)],
    ['a request, µs of the main thread', text(one.mainMicros, 1), text(many.mainMicros, 1)],
    ['times one key', '', ratios(({ mainMicros }) => mainMicros)],
    [
      'a request, µs of CPU, with the threads that store usage',
      text(one.requestMicros, 1),
      text(many.requestMicros, 1),
    ],
    ['times one key', '', ratios(({ requestMicros }) => requestMicros)],
    ['longest hold of the main thread, ms', text(one.holdMs, 1), text(many.holdMs, 1)],
  ];
  for (const row of rows) table.row(row);
  table.end({ one, many });
}
