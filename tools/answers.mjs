// `node tools/answers.mjs`: asks a service the example of each operation of the OpenAPI document and writes what it
// says to src/server/api/recorded-answers.json, which the document shows. A test compares.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const isProgram = import.meta.url === pathToFileURL(process.argv[1]).href;
// dist/ is loaded after it is that of src/.
if (isProgram) execFileSync(process.execPath, ['build.mjs', '--tests'], { stdio: 'inherit' });
const { OPERATIONS } = await import('#dist/server/api/operations.js');
const { exampleRequests } = await import('#dist/server/api/document.js');

const OUT = 'src/server/api/recorded-answers.json';
const KEY = 'example_0123456789abcdef';
/** Features and positions of a ring that are shown. */
const SHOWN_FEATURES = 2;
const LONGEST_RING = 8;

/** Members that are of the day, the machine or the key. */
const VOLATILE = {
  service: { name: 'hexcodes', version: '0.3.0' },
  transport: { name: 'uws-pack', version: '20.0.8' },
  date: '2026-11-25',
  month: '2026-11',
  key: { id: 'env:example', name: 'example' },
};

/** The value with few features, and few positions of long rings, the last among them. */
function shortened(value, name = '') {
  if (Array.isArray(value)) {
    if (name === 'features') return value.slice(0, SHOWN_FEATURES).map((each) => shortened(each));
    if (value.length > LONGEST_RING && typeof value[0]?.[0] === 'number')
      return [...value.slice(0, 3), value.at(-1)];
    return value.map((each) => shortened(each));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shortened(each, key)]));
}

/** The value with what changes by itself as it is shown. */
function settled(id, answer) {
  const { service, transport, date, month, key } = VOLATILE;
  if (id === 'meta') return { ...answer, service, transport };
  if (id !== 'usage') return answer;
  return { ...answer, key, day: { ...answer.day, date }, month: { ...answer.month, month } };
}

/**
 * The answers of a service by operation and media type.
 * @param {string} base its address
 * @param {string} key one that has not been used
 */
export async function recordAnswers(base, key) {
  const recorded = {};
  for (const operation of OPERATIONS) {
    const answers = {};
    for (const { method, target, type, body } of exampleRequests(operation)) {
      const headers = { 'X-API-Key': key, ...(type === undefined ? {} : { 'Content-Type': type }) };
      const answer = await fetch(base + target, { method, headers, body });
      const text = await answer.text();
      // A vector tile is not text that a document can show.
      if (operation.id === 'gridTile') continue;
      if (answer.status !== 200) throw new Error(`${method} ${target}: ${answer.status} ${text}`);
      const given = answer.headers.get('content-type').split(';')[0];
      answers[given] =
        given === 'application/json' ? settled(operation.id, shortened(JSON.parse(text))) : text;
    }
    recorded[operation.id] = answers;
  }
  return recorded;
}

async function writeAnswers() {
  const folder = mkdtempSync(join(tmpdir(), 'hexcodes-answers-'));
  const settings = ['--port', '0', '--data-dir', folder, '--drain-ms', '0'];
  const server = spawn(process.execPath, ['dist/cli/main.js', 'serve', ...settings], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, HEXCODES_API_KEYS: `example:${KEY}` },
  });
  let said = '';
  let port;
  for await (const part of server.stderr) {
    said += part;
    port = /answers on \S+:(\d+)/.exec(said)?.[1];
    if (port !== undefined) break;
  }
  if (port === undefined) throw new Error(`the service did not start: ${said}`);
  const recorded = await recordAnswers(`http://127.0.0.1:${port}`, KEY);
  server.kill();
  if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
  rmSync(folder, { recursive: true });
  writeFileSync(OUT, JSON.stringify(recorded));
  spawnSync(process.execPath, ['node_modules/@biomejs/biome/bin/biome', 'check', '--write', OUT], {
    stdio: 'inherit',
  });
}

if (isProgram) await writeAnswers();
