// `node tools/walk.mjs [FOLDER] [--list WAY]`: the source files in which code runs for one request, frame or file, by
// V8's precise coverage of FOLDER/dist (default: this checkout), and how many source files there are. A file counts
// where one of its functions is called; what runs when a module is loaded, or without a request, does not count.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { WebSocket } from 'ws';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const args = process.argv.slice(2);
const at = args.indexOf('--list');
const [, listed] = at < 0 ? [] : args.splice(at, 2);
const folder = resolve(args[0] ?? root);
if (folder === resolve(root)) execFileSync(process.execPath, [join(root, 'build.mjs'), '--tests']);
const dist = pathToFileURL(join(folder, 'dist/')).href;
const TURNS = 60;
/** Longer than the periods of timers. */
const IDLE_MS = 2500;
const CSV = `lat,lng\n${Array.from({ length: 30 }, (_, row) => `${21 + row / 100},105.85\n`).join('')}`;

/** Functions that were called, as `FILE OFFSET`. */
const calledIn = (scripts) =>
  scripts
    .filter(({ url }) => url.startsWith(dist))
    .flatMap(({ url, functions }) =>
      functions
        .filter(({ functionName, ranges: [{ startOffset, count }] }) =>
          startOffset === 0 && functionName === '' ? false : count > 0,
        )
        .map(({ ranges: [{ startOffset }] }) => `${url.slice(dist.length)} ${startOffset}`),
    );
const filesOf = (functions) => [...new Set(functions.map((name) => name.split(' ')[0]))].sort();

async function ofService() {
  const dataDir = mkdtempSync(join(tmpdir(), 'hexcodes-walk-'));
  const load = (path) => import(new URL(path, dist).href);
  const { serve } = await load('server/serve.js');
  const { readConfig, SETTING_NAMES } = await load('config/config.js');
  const { openLog } = await load('server/observe/log.js');
  const data = (path) => readFileSync(join(folder, path));
  const files = {
    kernel: data('dist/kernel.wasm'),
    index: data('data/index.bin'),
    reach: data('data/reach.bin'),
  };
  const config = {
    ...readConfig(SETTING_NAMES, {}, {}),
    port: 0,
    adminPort: 0,
    dataDir,
    logLevel: 'info',
    drainMs: 0,
  };
  const service = await serve(config, files, openLog('info', { write: () => {} }));
  const headers = { 'X-API-Key': readFileSync(service.firstKeyFile, 'utf8').trim() };
  const base = `127.0.0.1:${service.port}/v1/hexcodes`;
  const socket = new WebSocket(`ws://${base}/stream`, 'hexcodes.v1.binary', { headers });
  await new Promise((ready) => socket.once('message', ready));
  // 30 points for their codes at resolution 12 (docs/stream.md, Frames).
  const frame = Buffer.alloc(16 + 30 * 16);
  frame.set([1, 1, 12, 0]);
  frame.writeUInt32LE(30, 8);
  for (let n = 0; n < 30; n++) {
    frame.writeDoubleLE(21 + n / 100, 16 + 16 * n);
    frame.writeDoubleLE(105.85, 24 + 16 * n);
  }
  const ways = {
    single: () => fetch(`http://${base}/encode?lat=21.03&lng=105.85`, { headers }).then((x) => x.text()),
    'CSV of 30 rows': () =>
      fetch(`http://${base}/encode/bulk`, {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'text/csv' },
        body: CSV,
      }).then((x) => x.text()),
    frame: () =>
      new Promise((answered) => {
        socket.once('message', answered);
        socket.send(frame);
      }),
  };
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  const calledBy = async (work) => {
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await work();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    await session.post('Profiler.stopPreciseCoverage');
    return calledIn(result);
  };
  // Timers run beside the calls, more of them the busier the machine is.
  const idle = new Set(await calledBy(() => sleep(IDLE_MS)));
  const counted = {};
  for (const [way, call] of Object.entries(ways)) {
    await call();
    for (let turn = 0; turn < TURNS; turn++) {
      const files = filesOf((await calledBy(call)).filter((name) => !idle.has(name)));
      counted[way] = counted[way]?.filter((file) => files.includes(file)) ?? files;
    }
  }
  socket.terminate();
  await service.stop();
  rmSync(dataDir, { recursive: true });
  return counted;
}

/** `hexcodes encode FILE --out FILE`, in a process of its own. */
function ofCommand() {
  const work = mkdtempSync(join(tmpdir(), 'hexcodes-walk-'));
  writeFileSync(join(work, 'in.csv'), CSV);
  const given = [
    join(folder, 'dist/cli/main.js'),
    'encode',
    join(work, 'in.csv'),
    '-o',
    join(work, 'out.csv'),
  ];
  const env = { ...process.env, NODE_V8_COVERAGE: join(work, 'v8') };
  execFileSync(process.execPath, given, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const scripts = readdirSync(join(work, 'v8')).flatMap(
    (name) => JSON.parse(readFileSync(join(work, 'v8', name), 'utf8')).result,
  );
  rmSync(work, { recursive: true });
  return filesOf(calledIn(scripts));
}

const counted = { ...(await ofService()), 'CSV file by the command': ofCommand() };
for (const [way, files] of Object.entries(counted)) {
  console.log(`${String(files.length).padStart(4)}  files in which code runs: ${way}`);
  if (way === listed) console.log(files.map((file) => `        ${file}`).join('\n'));
}
const git = (...given) => execFileSync('git', ['-C', folder, ...given], { encoding: 'utf8' }).trim();
const sources = git('ls-files', 'src')
  .split('\n')
  .filter((path) => path.endsWith('.ts'));
const lines = sources.map((path) => readFileSync(join(folder, path), 'utf8').split('\n').length - 1);
const sorted = lines.toSorted((a, b) => a - b);
console.log(
  `${String(sources.length).padStart(4)}  source files, of ${sorted[sorted.length >> 1]} lines (median)`,
);
console.log(
  `${lines.reduce((sum, each) => sum + each, 0)} lines of source in ${relative('.', folder) || 'this checkout'}`,
);
process.exit();
