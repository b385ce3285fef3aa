// `npm run bench -- command [--rounds 9] [--rows 200000] [--beside FOLDER]`: the command as it is shipped: CPU of one
// position, CPU of the server from its start to its first answer, and CPU of files. Each run is a process of its own,
// of both checkouts in turns. Needs Linux, whose /proc says what a running process has used.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { BESIDE_OPTION, commandIn } from './beside.js';
import { head, headLine, saveResult } from './head.js';
import { ratio, spread, spreadText, table } from './measure.js';

interface Subject {
  readonly name: string;
  readonly unit: string;
  /** @returns milliseconds */
  run(command: string): Promise<number>;
}

/** Milliseconds of CPU of a process and all of its threads, until it ends. @throws Error where it fails */
export function cpuOf(args: readonly string[], folder: string): number {
  const script = 'TIMEFORMAT="%3U %3S"; time "$@" >/dev/null';
  const ran = spawnSync('bash', ['-c', script, 'bash', process.execPath, ...args], {
    cwd: folder,
    encoding: 'utf8',
  });
  const times = /(\d+\.\d+) (\d+\.\d+)\s*$/.exec(ran.stderr);
  if (ran.status !== 0 || times === null) throw new Error(`${args.join(' ')}: ${ran.stderr}`);
  return (Number(times[1]) + Number(times[2])) * 1000;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

const isAnswered = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const request = get(
      { port, host: '127.0.0.1', path: '/v1/hexcodes/encode?lat=21&lng=105.8' },
      (answer) => {
        answer.resume();
        done(true);
      },
    );
    request.on('error', () => done(false));
  });

/** The unit in which Linux states CPU (USER_HZ). */
const TICK_MS = 10;

/** CPU of a running process and all of its threads, those that have ended included. */
function cpuOfRunning(pid: number): number {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ').slice(11);
  return (Number(user) + Number(system)) * TICK_MS;
}

/** CPU of the server, on a data folder that has its stores, until its first answer. */
async function firstAnswerMs(command: string, dataDir: string): Promise<number> {
  const port = await freePort();
  const args = ['serve', '--port', String(port), '--admin-port', '0', '--data-dir', dataDir];
  const child = spawn(process.execPath, [command, ...args], { stdio: 'ignore' });
  try {
    while (!(await isAnswered(port))) {
      if (child.exitCode !== null) throw new Error(`${command} serve ended with ${child.exitCode}`);
      await sleep(2);
    }
    return cpuOfRunning(child.pid!);
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
}

export default async function benchCommand(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '9' },
      rows: { type: 'string', default: '200000' },
      ...BESIDE_OPTION,
    },
  });
  const [rounds, rows] = [Number(values.rounds), Number(values.rows)];
  const commands = ['.', ...(values.beside === '' ? [] : [values.beside])].map((each) =>
    commandIn(resolve(each)),
  );
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-bench-'));
  try {
    const subjects = subjectsIn(folder, rows);
    const times = subjects.map(() => commands.map((): number[] => []));
    for (let round = 0; round < rounds; round++) {
      for (const [s, subject] of subjects.entries()) {
        // Who goes first changes with each round.
        for (let k = 0; k < commands.length; k++) {
          const which = (k + round) % commands.length;
          times[s]![which]!.push(await subject.run(commands[which]!));
        }
      }
    }
    const headOfRun = head(['commander']);
    const lines = subjects.map(({ name, unit }, s) => {
      const [ours, beside] = times[s]!.map(spread);
      return [
        name,
        `${spreadText(ours!)} ${unit}`,
        ...(beside === undefined ? [] : [spreadText(ratio(ours!, beside), 2)]),
      ];
    });
    console.log(`${headLine(headOfRun)}\n`);
    console.log(`Medians and quartiles of ${rounds} rounds in turns; files of ${rows} rows.\n`);
    console.log(table(['what', 'here', ...(commands.length > 1 ? ['÷ beside'] : [])], lines));
    console.log(`\n${saveResult('command', { head: headOfRun, rounds, rows, times })}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function subjectsIn(folder: string, rows: number): Subject[] {
  const points = Array.from({ length: rows }, (_, n) => [
    (20.9 + ((n * 7919) % 1000) / 5000).toFixed(6),
    (105.7 + ((n * 104729) % 1000) / 5000).toFixed(6),
  ]);
  const texts = {
    csv: `id,lat,lng\n${points.map(([lat, lng], n) => `${n},${lat},${lng}\n`).join('')}`,
    ndjson: points.map(([lat, lng], n) => `{"id":${n},"lat":${lat},"lng":${lng}}\n`).join(''),
  };
  const dataDir = join(folder, 'var');
  const cpu = (name: string, ...args: string[]): Subject => ({
    name,
    unit: 'ms CPU',
    run: async (command) => cpuOf([command, ...args], folder),
  });
  return [
    { name: 'node -e 0', unit: 'ms CPU', run: async () => cpuOf(['-e', '0'], folder) },
    cpu('encode 21.03,105.85', 'encode', '21.03,105.85'),
    cpu('--help', '--help'),
    { name: 'serve, to the first answer', unit: 'ms CPU', run: (command) => firstAnswerMs(command, dataDir) },
    ...Object.entries(texts).map(([format, text]) => {
      writeFileSync(join(folder, `in.${format}`), text);
      return cpu(`encode in.${format}`, 'encode', `in.${format}`, '--threads', '1', '-q');
    }),
  ];
}
