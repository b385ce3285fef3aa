// The programs of examples/stream and the calls of docs/stream.md, as a newcomer runs them: each gets its first answer,
// and those that connect again lose and double nothing where nodes are killed in the midst of their work. How long
// their output rested then is printed.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { listening } from '../support/network.js';
import { pointsOf } from '../support/open-world.js';
import { blocksOf } from '../support/page-blocks.js';
import { COMMAND_KEY, ServeCommand } from '../support/server-process.js';
import { ownFolder } from '../support/shared.js';

const POINTS = 400_000;
const PATH = '/v1/hexcodes/stream';
const pairsDeg = pointsOf(16, POINTS);
const scratch = ownFolder('stream');

const runs = (command: string, ...args: string[]): boolean => spawnSync(command, args).status === 0;
const hasWebsockets = runs('python3', '-c', 'import websockets.asyncio.client');
const hasJava = runs('javac', '--version');
/** The program of Go, built where Go and its module are there. */
const goProgram = join(scratch, 'encode');
cpSync('examples/stream', join(scratch, 'go'), { recursive: true });
const hasGo =
  spawnSync('go', ['build', '-o', goProgram, '.'], { cwd: join(scratch, 'go'), timeout: 110_000 }).status ===
  0;
const wscat = join(scratch, 'npm/node_modules/.bin/wscat');
const hasWscat = runs('npm', 'install', '--silent', '--prefix', join(scratch, 'npm'), 'wscat@6');

const positions = (): string =>
  Array.from({ length: POINTS }, (_, i) => `${pairsDeg[2 * i]},${pairsDeg[2 * i + 1]}\n`).join('');

let node: ServeCommand;
let url: string;
const urlOf = async (each: ServeCommand): Promise<string> =>
  `${(await each.base()).replace('http:', 'ws:')}${PATH}`;
beforeAll(async () => {
  node = new ServeCommand([]);
  url = await urlOf(node);
});
afterAll(() => node.remove());

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** @param input undefined: standard input stays open, as a terminal's */
async function run(
  command: readonly string[],
  input?: string,
  onOutput?: (bytes: number) => void,
  cwd?: string,
): Promise<Ran> {
  const child = spawn(command[0]!, command.slice(1), { cwd });
  const out: Buffer[] = [];
  let stderr = '';
  child.stdout.on('data', (bytes: Buffer) => {
    out.push(bytes);
    onOutput?.(bytes.length);
  });
  child.stderr.on('data', (bytes: Buffer) => (stderr += bytes));
  child.stdin.on('error', () => {});
  if (input !== undefined) child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout: Buffer.concat(out).toString(), stderr };
}

const FIRST =
  '{"seq":1,"status":"OK","summary":{"total":1,"ok":1,"failed":0},"results":[{"hexcodes":"HN-6GHP4-83RFR","lat":21.0288,"lng":105.8525,"resolution":13,"admin_code":"HN","status":"OK"}]}';

describe('the first answer', () => {
  const [line = ''] = blocksOf('docs/stream.md', 'sh')
    .map(({ text }) => text)
    .filter((text) => text.includes('wscat'));

  test.skipIf(!hasWscat)('wscat (needs npm and its registry)', async () => {
    const words = line
      .replace('npx wscat', wscat)
      .replace('ws://127.0.0.1:8080/v1/hexcodes/stream', url)
      .replace('$KEY', COMMAND_KEY);
    const { stdout } = await run(['bash', '-c', words]);
    expect(stdout).toContain(FIRST);
  });

  test.skipIf(!hasJava)('Java (needs a JDK)', async () => {
    const { stdout, stderr } = await run(['java', 'examples/stream/FirstAnswer.java', COMMAND_KEY, url]);
    expect([stdout, stderr]).toEqual([`${FIRST}\n`, '']);
  });
});

describe('README.md', () => {
  const local = (text: string): string => text.replace('ws://127.0.0.1:8080/v1/hexcodes/stream', url);
  const inside = (): string => {
    const path = join(scratch, 'readme');
    mkdirSync(join(path, 'var'), { recursive: true });
    writeFileSync(join(path, 'var/first-key'), `${COMMAND_KEY}\n`);
    return path;
  };

  test.skipIf(!hasWebsockets)('the stream in Python (needs python3 with websockets)', async () => {
    const [block] = blocksOf('README.md', 'python');
    const { stdout } = await run(['python3', '-c', local(block!.text)], '', undefined, inside());
    expect(stdout).toBe('HN-6GHP4-83RFR\n');
  });

  test.skipIf(!hasGo)('the stream in Go (needs go and its module)', async () => {
    const [block] = blocksOf('README.md', 'go');
    const packages = ['context', 'fmt', 'net/http', 'os', 'strings', 'github.com/coder/websocket'];
    const imports = [...packages, 'github.com/coder/websocket/wsjson'].map((name) => `"${name}"`);
    const program = `package main\nimport (\n${imports.join('\n')}\n)\nfunc main() {\nctx := context.Background()\n${local(block!.text)}}\n`;
    const module = join(scratch, 'go-readme');
    for (const name of ['go.mod', 'go.sum']) cpSync(join('examples/stream', name), join(module, name));
    writeFileSync(join(module, 'main.go'), program);
    const built = await run(['go', 'build', '-C', module, '-o', 'readme', '.'], '');
    expect(built.stderr).toBe('');
    const { stdout } = await run([join(module, 'readme')], '', undefined, inside());
    expect(stdout).toBe(`${FIRST} <nil>\n`);
  });
});

const CLIENTS = [
  [
    'Python (needs python3 with websockets)',
    hasWebsockets,
    ['python3', resolve('examples/stream/encode.py')],
  ],
  ['Go (needs go and its module)', hasGo, [goProgram]],
] as const;

describe.each(CLIENTS)('%s', (client, isThere, command) => {
  test.skipIf(!isThere)('a line for each position; a wrong key ends it at once', async () => {
    const { code, stdout, stderr } = await run(
      [...command, COMMAND_KEY, url],
      '21.0288,105.8525\n48.8584,2.2945\n',
    );
    expect([code, stdout, stderr]).toEqual([0, 'HN-6GHP4-83RFR\n\n', '']);
    const refused = await run([...command, 'nobody', url], '1,2\n');
    expect([refused.code === 0, refused.stdout]).toEqual([false, '']);
    expect(refused.stderr).toContain('401');
    // Key and positions follow no redirect.
    const asked: unknown[] = [];
    const far = await listening((req, res) => res.end(`${asked.push(req.headers)}`));
    const Location = command[0] === 'python3' ? far.base.replace('http', 'ws') : far.base;
    const near = await listening((_, res) => res.writeHead(307, { Location }).end());
    const sent = await run([...command, COMMAND_KEY, near.base.replace('http', 'ws')], '1,2\n');
    await Promise.all([near.close(), far.close()]);
    expect([sent.code === 0, asked]).toEqual([false, []]);
    expect(sent.stderr).toContain('307');
  });

  test.skipIf(!isThere)(
    'nodes are killed in turns: no position is lost, doubled or out of order',
    async () => {
      const library = await Hexcodes.load();
      const records = Buffer.from(library.encodeBatch(pairsDeg, 13).buffer);
      const due = Array.from({ length: POINTS }, (__, i) =>
        records.toString('latin1', 20 * i, 20 * i + 19).replace(/\0+$/, ''),
      );
      const nodes = [new ServeCommand([]), new ServeCommand([])];
      const urls = await Promise.all(nodes.map(urlOf));
      let left = 150_000;
      let lastMs = 0;
      // The longest rest of the output after each kill: what was under way may still come.
      const restsMs: number[] = [];
      const ran = run([...command, COMMAND_KEY, urls[0]!, urls[1]!, url], positions(), (bytes) => {
        const nowMs = performance.now();
        const kills = restsMs.length;
        if (kills > 0) restsMs[kills - 1] = Math.max(restsMs[kills - 1]!, nowMs - lastMs);
        lastMs = nowMs;
        left -= bytes;
        if (left > 0 || kills === nodes.length) return;
        left = 150_000;
        restsMs.push(0);
        nodes[kills]!.child.kill('SIGKILL');
      });
      const { code, stdout } = await ran;
      for (const each of nodes) each.remove();
      console.log(
        `${client}: ${restsMs.map((ms) => `${Math.round(ms)} ms`).join(' and ')} after a killed node`,
      );
      expect([code, restsMs.length]).toEqual([0, nodes.length]);
      expect(stdout.split('\n').slice(0, -1)).toEqual(due);
    },
  );
});
