// Sinks that are files: what is appended, when another file begins, and a line that a kill has torn.
import { appendFileSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { startServer, type TestServer } from '../../support/server.js';
import { ownFolder } from '../../support/shared.js';
import { forwarded, forwardedBody } from '../../support/traccar.js';

const root = ownFolder('file-sink');
const [CSV, NDJSON, FULL] = ['a.csv', 'a.ndjson', 'full.csv'].map((name) => join(root, name)) as [
  string,
  string,
  string,
];
const HEADER =
  'id,unique_id,name,fix_time,device_time,server_time,lat,lng,hexcodes,resolution,admin_code,status,speed_kn,course,altitude_m,accuracy_m,valid,protocol\n';
const opened = (path: string, traccarFileBytes = 1e6): Promise<TestServer> => {
  const format = path === NDJSON ? 'ndjson' : 'csv';
  return startServer({ traccarSink: { kind: 'file', path, format }, traccarBatchMs: 0, traccarFileBytes });
};
let servers: Map<string, TestServer>;
beforeAll(async () => {
  servers = new Map([
    ...[[CSV, await opened(CSV)] as const, [NDJSON, await opened(NDJSON)] as const],
    [FULL, await opened(FULL, HEADER.length + 100)],
  ]);
  return () => Promise.all([...servers.values()].map((server) => server.stop()));
});

/** Starts a service whose file has a text already. @returns what stands in the file after a position, and its line */
async function after(path: string, before: string, meanwhile = async () => {}) {
  writeFileSync(path, before);
  await servers.get(path)!.stop();
  servers.set(path, await opened(path));
  const line = await lineIn(path, 'x', meanwhile);
  return { text: textOf(path), line };
}

const textOf = (path: string): string => readFileSync(path, 'utf8');

let sent = 0;
/** Forwards a position of a device. @returns its line, without the end, once the file has it */
async function lineIn(path: string, name = 'x', meanwhile = async () => {}): Promise<string> {
  const body = forwardedBody(sent++);
  const server = servers.get(path)!;
  const done = meanwhile();
  const { status, body: answer } = await forwarded(server, server.key, {
    ...body,
    device: { ...body.device, name },
  });
  expect(status).toBe(200);
  await done;
  const hasLine = (): boolean => new RegExp(`${answer.id}.*\n$`, 's').test(textOf(path));
  await expect.poll(() => statSync(path, { throwIfNoEntry: false }) !== undefined && hasLine()).toBe(true);
  const text = textOf(path);
  return text.slice(text.lastIndexOf('\n', text.indexOf(answer.id)) + 1, -1);
}

test('one header, every member but the attributes, and nothing that everybody may read', async () => {
  const row = JSON.parse(await lineIn(NDJSON));
  expect(row).toMatchObject({ unique_id: '860123456789012', hexcodes: expect.any(String), attributes: {} });
  sent--;
  const lines = [await lineIn(CSV), await lineIn(CSV)];
  expect(textOf(CSV)).toBe(`${HEADER}${lines[0]}\n${lines[1]}\n`);
  const [fields] = parse(HEADER + lines[0], { columns: true }) as Record<string, string>[];
  for (const [name, text] of Object.entries(fields!))
    expect([name, text]).toEqual([name, String(row[name] ?? '')]);
  expect(statSync(CSV).mode & 0o007).toBe(0);
});

test.each([
  ...['a\rb', 'a\nb', 'a\r\nb', 'a,b'].map((name) => [name, `"${name}"`]),
  ['51C, "Trường"\n', '"51C, ""Trường""\n"'],
  ["=cmd|'/c calc'!A1", "'=cmd|'/c calc'!A1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['+1+cmd|x', "'+1+cmd|x"],
  ['-2+3', "'-2+3"],
  ['\t=1', "'\t=1"],
  ...['+84 (90) 123-45.6', '-12', '51C-123.45', 'a=b'].map((name) => [name, name]),
  ['a\u0000b\u001b[31m', 'a\ufffdb\ufffd[31m'],
])('the name %j of a device stands in CSV as %j, and in NDJSON as it is', async (name, shown) => {
  expect((await lineIn(CSV, name)).slice(33)).toMatch(`860123456789012,${shown},2026-`);
  expect(JSON.parse(await lineIn(NDJSON, name)).name).toBe(name);
});

test('a last line without an end is cut off, however long it is, and nothing before it', async () => {
  const whole = `{"x":"${'x'.repeat(100)}"}\n`.repeat(1000);
  for (const [path, before, kept] of [
    [CSV, `${HEADER}1,86\n2,86`, `${HEADER}1,86\n`],
    [CSV, 'torn', HEADER],
    [CSV, `${HEADER}${'x'.repeat(200_000)}`, HEADER],
    [NDJSON, `${whole}{"id":`, whole],
    [NDJSON, `${whole}{"id":"${'y'.repeat(70_000)}`, whole],
  ] as const) {
    const { text, line } = await after(path, before);
    expect(text).toBe(`${kept}${line}\n`);
  }
});

test('a line that another process is still writing is left to it', async () => {
  const { text, line } = await after(NDJSON, '{"n":', async () => {
    await new Promise((done) => setTimeout(done, 150));
    appendFileSync(NDJSON, '1}\n');
  });
  expect(text).toBe(`{"n":1}\n${line}\n`);
});

test('a file that has reached its size is renamed, and so is none that another program took away', async () => {
  const lines = [await lineIn(FULL), await lineIn(FULL)];
  const old = readdirSync(root).filter((name) => /^full\.\d{8}T\d{9}Z\.csv$/.test(name));
  expect(old.map((name) => textOf(join(root, name)))).toEqual([`${HEADER}${lines[0]}\n`]);
  expect(textOf(FULL)).toBe(`${HEADER}${lines[1]}\n`);
  rmSync(FULL);
  const last = await lineIn(FULL);
  expect(textOf(FULL)).toBe(`${HEADER}${last}\n`);
});

test('a clock that shows a time twice costs no renamed file', async () => {
  const nowMs = Date.now();
  const Standing = class extends Date {
    constructor(given: string | number = nowMs) {
      super(given);
    }
  };
  vi.stubGlobal('Date', Standing);
  onTestFinished(() => void vi.unstubAllGlobals());
  const lines = [await lineIn(FULL), await lineIn(FULL), await lineIn(FULL)];
  const texts = readdirSync(root).map((name) => textOf(join(root, name)));
  expect(texts).toEqual(expect.arrayContaining(lines.map((line) => `${HEADER}${line}\n`)));
});
