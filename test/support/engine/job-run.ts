// Many files are converted by a job on two workers that are killed again and again, and by one that is left alone; part
// by part the outputs are compared, and with the manifests.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { CliFolder } from '../cli.js';
import { writePointsCsv } from '../files/points-csv.js';
import { NatsServer } from '../nats.js';
import { positionsOf } from './frames.js';
import { WorkerProcess } from './worker-process.js';

export interface JobRunOptions {
  /** Half of them CSV, half of them Parquet. */
  readonly files: number;
  readonly rowsPerFile: number;
  /** Kills of each worker. */
  readonly kills: number;
  readonly partSize: string;
}

export interface JobReport {
  readonly files: number;
  readonly parts: number;
  readonly rows: number;
  readonly failedParts: number;
  /** Parts whose file is not byte-equal to that of the job that was left alone, or not that of the manifest. */
  readonly differing: number;
  /** Parts that the manifest has twice, or not at all. */
  readonly doubled: number;
  readonly missing: number;
  /** Files in the output folder that are no part and not the manifest. */
  readonly leftOver: number;
  readonly workerKills: number;
  readonly handedOutAgain: number;
  readonly aloneS: number;
  readonly killedS: number;
}

interface Manifest {
  readonly rows: number;
  readonly failedParts: number;
  readonly parts: readonly { readonly part: number; readonly output: string; readonly sha256: string }[];
}

const WORKERS = 2;
const ROW_GROUPS = 4;
const DONE_MS = 3_600_000;

export async function runJob(options: JobRunOptions): Promise<JobReport> {
  const folder = new CliFolder();
  const server = await NatsServer.start();
  const workers: WorkerProcess[] = [];
  const startWorker = (): WorkerProcess =>
    new WorkerProcess(server.url, ['--report', '1s'], {}, { command: ['job', 'worker'], cwd: folder.path });
  const command = async (...args: string[]): Promise<string> => {
    const ran = await folder.run(['job', ...args, '--nats', server.url]);
    if (ran.code !== 0) throw new Error(ran.stderr);
    return ran.stdout.trim();
  };
  try {
    writeFiles(folder.path, options);
    await command('setup', '--ack-wait', '2s', '--max-bytes', '512M');
    const jsm = await jetstreamManager(await server.connect());
    for (let i = 0; i < WORKERS; i++) workers.push(startWorker());
    const submit = (to: string): Promise<string> =>
      command('submit', 'in/*', '--to', to, '--part-size', options.partSize);

    const aloneMs = performance.now();
    const alone = await submit('alone');
    await manifestOf(folder, 'alone', alone);
    const aloneS = Math.round((performance.now() - aloneMs) / 1000);

    const killedMs = performance.now();
    const killed = await submit('killed');
    const parts = await countOf(jsm, 'part', killed);
    for (let kill = 1; kill <= WORKERS * options.kills; kill++) {
      const isReached = async (): Promise<boolean> =>
        (await countOf(jsm, 'result', killed)) >= ((kill - 0.5) / (WORKERS * options.kills + 1)) * parts;
      while (!(await isReached())) await sleep(10);
      await sleep(Math.random() * 100);
      const at = kill % WORKERS;
      await workers[at]!.end('SIGKILL');
      workers[at] = startWorker();
    }
    if ((await countOf(jsm, 'result', killed)) === parts)
      throw new Error('all was done before the last kill');
    const manifest = await manifestOf(folder, 'killed', killed);
    const killedS = Math.round((performance.now() - killedMs) / 1000);

    for (const worker of workers) await worker.end();
    const { delivered } = await jsm.consumers.info('HEXCODES_JOBS', 'job-workers');
    return {
      ...{ files: options.files, parts, rows: manifest.rows, failedParts: manifest.failedParts },
      ...comparisonOf(folder.path, await manifestOf(folder, 'alone', alone), manifest, parts),
      ...{ workerKills: WORKERS * options.kills, handedOutAgain: delivered.consumer_seq - 2 * parts },
      ...{ aloneS, killedS },
    };
  } finally {
    for (const worker of workers) await worker.end('SIGKILL');
    folder.remove();
    await server.remove();
  }
}

function writeFiles(path: string, { files, rowsPerFile }: JobRunOptions): void {
  mkdirSync(join(path, 'in'));
  for (let i = 0; i < files; i++) {
    if (i % 2 === 0) {
      writePointsCsv(join(path, 'in', `${i}.csv`), rowsPerFile, i + 1);
      continue;
    }
    const latLng = positionsOf(i, rowsPerFile);
    const rows = Array.from({ length: rowsPerFile }, (_, row) => row);
    const bytes = parquetWriteBuffer({
      columnData: [
        { name: 'vehicle', data: rows.map((row) => `v${row % 97}`), type: 'STRING' },
        { name: 'lat', data: rows.map((row) => latLng[2 * row]!), type: 'DOUBLE' },
        { name: 'lng', data: rows.map((row) => latLng[2 * row + 1]!), type: 'DOUBLE' },
      ],
      rowGroupSize: Math.ceil(rowsPerFile / ROW_GROUPS),
    });
    writeFileSync(join(path, 'in', `${i}.parquet`), new Uint8Array(bytes));
  }
}

/** Messages of one kind of a job. */
async function countOf(jsm: JetStreamManager, kind: 'part' | 'result', job: string): Promise<number> {
  const { state } = await jsm.streams.info('HEXCODES_JOBS', {
    subjects_filter: `hexcodes.job.${kind}.${job}.*`,
  });
  return Object.keys(state.subjects ?? {}).length;
}

/** Waits until it is written. */
async function manifestOf(folder: CliFolder, output: string, job: string): Promise<Manifest> {
  const path = folder.file(`${output}/manifest-${job}.json`);
  for (const deadline = performance.now() + DONE_MS; !existsSync(path); await sleep(50))
    if (performance.now() > deadline) throw new Error(`${path} is not written`);
  return JSON.parse(readFileSync(path, 'utf8')) as Manifest;
}

function comparisonOf(
  path: string,
  alone: Manifest,
  killed: Manifest,
  parts: number,
): Pick<JobReport, 'differing' | 'doubled' | 'missing' | 'leftOver'> {
  const digestOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');
  const wanted = new Map(alone.parts.map(({ part, sha256 }) => [part, sha256]));
  const found = new Set(killed.parts.map(({ part }) => part));
  const differing = killed.parts.filter(({ part, output, sha256 }) => {
    const bytes = digestOf(join(path, 'killed', output));
    return bytes !== sha256 || bytes !== wanted.get(part) || bytes !== digestOf(join(path, 'alone', output));
  });
  return {
    differing: differing.length,
    doubled: killed.parts.length - found.size,
    missing: parts - found.size,
    leftOver: readdirSync(join(path, 'killed')).length - parts - 1,
  };
}
