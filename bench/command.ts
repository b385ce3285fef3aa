// `npm run bench -- command [--rounds 9] [--rows 200000] [--beside FOLDER]`: the command as it is shipped: CPU of one
// position and of files. Each run is a process of its own, of both checkouts in turns.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { BESIDE_OPTION, commandIn } from './beside.js';
import { BenchTable, head, ratio, spread, spreadText } from './table.js';

interface Subject {
  readonly name: string;
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
    const titles = ['what', 'here', ...(commands.length > 1 ? ['÷ beside'] : [])];
    const notes = `Medians and quartiles of ${rounds} rounds in turns; files of ${rows} rows.`;
    const table = new BenchTable('command', head(['commander']), titles, notes, { rounds, rowsOfFile: rows });
    for (const { name, run } of subjects) {
      const millis = commands.map((): number[] => []);
      for (let round = 0; round < rounds; round++)
        for (let k = 0; k < commands.length; k++) {
          // Who goes first changes with each round.
          const which = (k + round) % commands.length;
          millis[which]!.push(await run(commands[which]!));
        }
      const [ours, beside] = millis.map(spread);
      const ratios = beside === undefined ? [] : [spreadText(ratio(ours!, beside), 2)];
      table.row([name, `${spreadText(ours!)} ms CPU`, ...ratios], { name, millis });
    }
    table.end();
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
  const cpu = (name: string, ...args: string[]): Subject => ({
    name,
    run: async (command) => cpuOf([command, ...args], folder),
  });
  return [
    { name: 'node -e 0', run: async () => cpuOf(['-e', '0'], folder) },
    cpu('encode 21.03,105.85', 'encode', '21.03,105.85'),
    cpu('--help', '--help'),
    ...Object.entries(texts).map(([format, text]) => {
      writeFileSync(join(folder, `in.${format}`), text);
      return cpu(`encode in.${format}`, 'encode', `in.${format}`, '--threads', '1', '-q');
    }),
  ];
}
