// The examples of the documentation, run unchanged.
import { execFile, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Block, blocksOf, printedBy, sessionsOf } from '../support/page-blocks.js';
import { BINARY, handshake, RawWebSocket, TEXT } from '../support/raw-stream.js';
import { startServer, type TestServer } from '../support/server.js';
import { sharedCommand } from '../support/shared.js';
import { CODE_ROWS } from '../support/vectors.js';

// Inside the repository, so that the examples import the package by its own name.
mkdirSync('build', { recursive: true });
const inside = mkdtempSync(join('build', 'docs-'));
const folder = sharedCommand();
const hasCurl = spawnSync('curl', ['--version']).status === 0;
const hasRequests = spawnSync('python3', ['-c', 'import requests']).status === 0;

let server: TestServer;
beforeAll(async () => {
  const files = {
    kernel: readFileSync('dist/kernel.wasm'),
    index: readFileSync('data/index.bin'),
    reach: readFileSync('data/reach.bin'),
  };
  server = await startServer({ logLevel: 'warn' }, files);
  mkdirSync(folder.file('bin'));
  const main = join(process.cwd(), 'dist/cli/main.js');
  for (const [name, shift] of [
    ['hexcodes', ''],
    // The next word is the name of the package's own command.
    ['npx', 'shift; '],
  ] as const) {
    const script = `#!/bin/sh\n${shift}exec ${process.execPath} ${main} "$@"\n`;
    writeFileSync(folder.file(`bin/${name}`), script, { mode: 0o755 });
  }
  for (const name of readdirSync('examples/data'))
    copyFileSync(join('examples/data', name), folder.file(name));
  symlinkSync(resolve('examples'), folder.file('examples'));
  symlinkSync(server.dataDir, folder.file('var'));
});
afterAll(async () => {
  await server.stop();
  rmSync(inside, { recursive: true });
});

/** Where examples find the package's commands and a server. */
function environment({ base, key } = server): NodeJS.ProcessEnv {
  const path = `${folder.path}/bin:${process.env.PATH}`;
  return { ...process.env, PATH: path, NO_COLOR: '1', BASE: `${base}/v1`, KEY: key };
}

/** Runs a module of a page; its lines on standard output. */
async function linesOf(name: string, { line, text }: Block): Promise<string[]> {
  const file = join(inside, `${name}-${line}.mjs`);
  writeFileSync(file, text);
  const ran = await promisify(execFile)(process.execPath, [file], { env: environment() });
  expect(ran.stderr).toBe('');
  return ran.stdout
    .split('\n')
    .map((each) => each.trimEnd())
    .slice(0, -1);
}

/** Runs a shell command in the folder; what it writes anywhere. */
async function outputOf(command: string, env = environment()): Promise<string> {
  const ran = await promisify(execFile)('bash', ['-c', command], { cwd: folder.path, env });
  return ran.stdout + ran.stderr;
}

/** Without digits beyond 1e-9 degrees. */
const rounded = (text: string): string => text.replace(/(\d\.\d{9})\d+/g, '$1').trimEnd();

describe('README.md', () => {
  test.each(blocksOf('README.md', 'js'))('line $line', async (block) => {
    expect(await linesOf('readme', block)).toEqual(printedBy(block));
  });

  test.skipIf(!hasCurl)('each call gives the answer below it (needs curl)', async () => {
    const readme = readFileSync('README.md', 'utf8');
    const calls = [...readme.matchAll(/^```sh\n(curl .+)\n```\n\n```json\n(.+)\n```/gm)];
    expect(calls).toHaveLength(1);
    for (const [, command = '', answer] of calls) {
      expect(await outputOf(command.replace('http://127.0.0.1:8080', server.base))).toBe(answer);
    }
  });

  test('every other command runs, with files that are in the clone', async () => {
    const commands = blocksOf('README.md', 'sh').flatMap(({ text }) => text.trim().split('\n'));
    // The first line starts the service, curl has its own test.
    expect(commands.shift()).toBe('npm ci && npm start');
    const ran = commands.filter((each) => !each.startsWith('curl '));
    expect(ran.length).toBeGreaterThan(2);
    for (const command of ran) {
      for (const [path] of command.matchAll(/examples\/\S+/g)) expect(existsSync(path), command).toBe(true);
      const said = await outputOf(command);
      if (command.includes('21.0288,105.8525')) expect(said, command).toContain('HN-6GHP4-83RFR');
    }
    const made = ['orders.geojson', 'shops.parquet'];
    expect(folder.names()).toEqual(expect.arrayContaining(made));
  });
});

describe.skipIf(!hasCurl)('docs/http.md, docs/operations.md (need curl)', () => {
  /** Without what differs from answer to answer and from build to build. */
  const still = (text: string): string =>
    rounded(text)
      .replaceAll('\r', '')
      .replace(/^(Date|uWebSockets): .*\n/gm, '')
      .replace(/(?<="request_id":"|^X-Request-Id: )(?!call-1)[^"\n]+/gm, '…')
      .replace(/(?<="(?:version|sha256)":"|"transport":{"name":")[^"]+/g, '…');

  const blocks = ['docs/http.md', 'docs/operations.md'].flatMap((page) => blocksOf(page, 'console'));
  test.each(blocks)('line $line', async (block) => {
    for (const { command, output } of sessionsOf(block)) {
      expect([command, still(await outputOf(command))]).toEqual([command, still(output)]);
    }
  });
});

describe('docs/stream.md', () => {
  /** Lines after `> ` and `< `, in order; those of one frame together where frames are hexadecimal. */
  const turnsOf = ({ text }: Block, isBinary: boolean): { isRequest: boolean; frame: Buffer }[] => {
    const lines = text
      .trim()
      .split('\n')
      .map((line) => ({ isRequest: line.startsWith('> '), rest: line.slice(2) }));
    if (!isBinary) return lines.map(({ isRequest, rest }) => ({ isRequest, frame: Buffer.from(rest) }));
    return [true, false].map((isRequest) => {
      const part = lines.filter((line) => line.isRequest === isRequest);
      const hex = part.map(({ rest }) => rest.replace(/#.*/, '').replaceAll(' ', '')).join('');
      return { isRequest, frame: Buffer.from(hex, 'hex') };
    });
  };

  describe.each(['binary', 'json'] as const)('%s', (subprotocol) => {
    test.each(blocksOf('docs/stream.md', `stream ${subprotocol}`))('line $line', async (block) => {
      const isBinary = subprotocol === 'binary';
      const lines = [`Sec-WebSocket-Protocol: hexcodes.v1.${subprotocol}`];
      const peer = await RawWebSocket.open(server.port, handshake(server.key, lines));
      const turns = turnsOf(block, isBinary);
      expect(turns.length).toBeGreaterThan(1);
      for (const { isRequest, frame } of turns) {
        if (isRequest) peer.send(frame, isBinary ? BINARY : TEXT);
        else if (isBinary) expect((await peer.next()).payload.toString('hex')).toBe(frame.toString('hex'));
        else expect((await peer.next()).payload.toString()).toBe(frame.toString());
      }
      peer.end();
    });
  });

  test('the ready frame is the one printed', async () => {
    const peer = await RawWebSocket.connect(server.port, handshake(server.key));
    const [printed] = blocksOf('docs/stream.md', 'json');
    expect((await peer.next()).payload.toString()).toBe(printed?.text.trim());
    peer.end();
  });
});

test('examples/hexcode_writer.mjs makes every recorded code', async () => {
  const { hexcodeOf } = (await import(pathToFileURL('examples/hexcode_writer.mjs').href)) as {
    hexcodeOf: (cell: string, adminCode: string) => string | null;
  };
  for (const { cell, adminCode, code } of CODE_ROWS) expect(hexcodeOf(cell, adminCode)).toBe(code);
});

describe('docs/bulk.md', () => {
  test.each(blocksOf('docs/bulk.md', 'js'))('line $line', async (block) => {
    expect(await linesOf('bulk', block)).toEqual(printedBy(block));
  });

  test.skipIf(!hasRequests)('the upload by requests (needs python3 with requests)', async () => {
    const [block] = blocksOf('docs/bulk.md', 'python');
    folder.write('positions.csv', 'lat,lng\n21.0288,105.8525\n');
    const before = 'import os\nbase, key = os.environ["BASE"], os.environ["KEY"]\n';
    folder.write('upload.py', `${before}${block!.text}print(answer.text, end="")\n`);
    expect(await outputOf('python3 upload.py')).toBe(
      'lat,lng,hexcodes,resolution,admin_code,status\n21.0288,105.8525,HN-6GHP4-83RFR,13,HN,OK\n',
    );
  });

  describe.skipIf(!hasCurl)('(needs curl)', () => {
    const forms = blocksOf('docs/bulk.md', 'sh').filter(({ text }) => text.includes(' -F '));
    const files = blocksOf('docs/bulk.md', 'sh').filter(({ text }) => !text.includes(' -F '));

    test.each(files)('line $line', async ({ text }) => {
      folder.write('positions.csv', 'id,lat,lng\n1,21.0288,105.8525\n');
      const resolution = text.includes('resolution=11') ? 11 : 13;
      const code = resolution === 11 ? 'HN-6GHP4-83R5M' : 'HN-6GHP4-83RFR';
      await outputOf(text);
      expect(folder.read('coded.csv')).toBe(
        `id,lat,lng,hexcodes,resolution,admin_code,status\n1,21.0288,105.8525,${code},${resolution},HN,OK\n`,
      );
      rmSync(folder.file('coded.csv'));
    });

    test.each(forms)('line $line', async ({ text }) => {
      folder.write('positions.tsv', 'vi_do\tkinh_do\n21.0288\t105.8525\n');
      await outputOf(text);
      expect(folder.read('coded.tsv')).toBe(
        'vi_do\tkinh_do\thexcodes\tresolution\tadmin_code\tstatus\n21.0288\t105.8525\tHN-6GHP4-83RFR\t13\tHN\tOK\n',
      );
    });
  });
});

describe('docs/library.md', () => {
  test.each(blocksOf('docs/library.md', 'js'))('line $line', async (block) => {
    expect(await linesOf('library', block)).toEqual(printedBy(block));
  });
});

describe('docs/command.md', () => {
  /** Without times, which differ from run to run. */
  const still = (text: string): string => rounded(text).replace(/in \d+\.\d s/g, 'in 0.0 s');

  test.each(blocksOf('docs/command.md', 'console'))('line $line', async (block) => {
    for (const { command, output } of sessionsOf(block)) {
      const ran = await outputOf(`${command}\ntrue`);
      expect([command, still(ran)]).toEqual([command, still(output)]);
    }
  });
});

test.skipIf(spawnSync('python3', ['--version']).status !== 0)(
  'clients/python/README.md: what the program with its client prints (needs python3)',
  async () => {
    const block = blocksOf('clients/python/README.md', 'python').find(({ text }) =>
      text.includes('hexcodes_client'),
    );
    folder.write('program.py', block!.text);
    const path = resolve('clients/python');
    const printed = await outputOf(`PYTHONPATH=${path} PYTHONIOENCODING=utf-8 python3 -B program.py`);
    const wanted = [...block!.text.matchAll(/^ *print\(.*\) +# (.+)$/gm)].map((match) => `${match[1]}\n`);
    expect(printed).toBe(wanted.join(''));
  },
);

describe('docs/recipes.md', () => {
  test.each(blocksOf('docs/recipes.md', 'console'))('line $line', async (block) => {
    for (const { command, output } of sessionsOf(block))
      expect([command, await outputOf(command)]).toEqual([command, output]);
  });
});
