// `Expect: 100-continue` in every spelling (RFC 9110, 10.1.1): the client that waits for the interim answer gets it,
// then the answer itself. Clients of others are the judges; Java's spells it 100-Continue.
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { randomFrom } from '../../support/open-world.js';
import { askRaw, rawClient } from '../../support/raw-client.js';
import { startServer, type TestServer } from '../../support/server.js';

const run = promisify(execFile);
const KEY = 'one_key_0123456789abcdef';
const POINT = '{"lat":21.0288,"lng":105.8525}';
const CONTINUED = /^HTTP\/1\.1 100 Continue\r\n\r\n$/;
const random = randomFrom(100);

function has(command: string): boolean {
  try {
    execFileSync(command, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** The word with letters of either case. */
const anyCase = (word: string): string =>
  Array.from(word, (letter) => (random() < 0.5 ? letter.toUpperCase() : letter)).join('');
const anySpelling = (): string => {
  const members = Array.from({ length: 1 + Math.floor(random() * 2) }, () => anyCase('100-continue'));
  return members.map((member) => `Expect:${random() < 0.5 ? ' ' : '\t '}${member}`).join('\r\n');
};
const SPELLINGS = [
  'Expect: 100-continue',
  'Expect: 100-Continue',
  'expect: 100-CONTINUE , 100-Continue',
  'Expect: 100-continue\r\nExpect: 100-Continue',
  ...Array.from({ length: 12 }, anySpelling),
];

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ apiKeys: [{ name: 'one', secret: KEY }] });
});
afterAll(() => server.stop());

const sockets: Socket[] = [];
async function client() {
  const made = await rawClient(server.port);
  sockets.push(made.socket);
  onTestFinished(() => sockets.splice(0).forEach((socket) => void socket.destroy()));
  return made;
}
const post = (path: string, lines: readonly string[]): string =>
  [`POST ${path} HTTP/1.1`, 'Host: a', `X-API-Key: ${KEY}`, ...lines, '', ''].join('\r\n');

test.each(SPELLINGS)('a body that waits for its interim answer: %s', async (expectation) => {
  const bodies: [string, string, string][] = [
    ['/v1/hexcodes/encode', 'application/json', POINT],
    ['/v1/hexcodes/encode/batch', 'application/json', `{"points":[${POINT}]}`],
    ['/v1/hexcodes/encode/bulk', 'text/csv', 'lat,lng\n21.0288,105.8525\n'],
  ];
  const peer = await client();
  for (const [path, type, body] of bodies) {
    const head = post(path, [`Content-Type: ${type}`, `Content-Length: ${body.length}`, expectation]);
    const interim = await askRaw(peer, [head], /\r\n\r\n$/);
    expect(interim.replace(/^(HTTP\/1\.1 100 Continue\r\n\r\n)+/, '$1'), path).toMatch(CONTINUED);
    const answer = await askRaw(peer, [body], /-83RF\w/);
    expect(answer, path).toMatch(/^HTTP\/1\.1 200 OK\r\nContent-Type: .*\r\n\r\n.*-6GHP4-83RF/s);
  }
});

test('a request that waits and is refused gets its refusal; one that waits for something else, 417', async () => {
  const length = `Content-Length: ${POINT.length}`;
  const type = 'Content-Type: application/json';
  const refused = post('/v1/nothing', [type, length, 'Expect: 100-Continue']);
  expect(await askRaw(await client(), [refused], /}\s*$/)).toMatch(
    /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 404 Not Found\r\n/,
  );
  for (const value of ['200-ok', '100-continue, sorcery', '100', '100-continued']) {
    const answer = await askRaw(await client(), [
      post('/v1/hexcodes/encode', [type, length, `Expect: ${value}`]),
    ]);
    // curl sends the request again in the place of the body.
    expect(answer, value).toMatch(
      /HTTP\/1\.1 417 Expectation Failed\r\n.*Connection: close\r\n.*INVALID_REQUEST/s,
    );
  }
  const bodiless = `GET /v1/hexcodes/encode?lat=21&lng=105.8 HTTP/1.1\r\nHost: a\r\nX-API-Key: ${KEY}\r\nExpect: 100-Continue\r\n\r\n`;
  expect(await askRaw(await client(), [bodiless])).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
});

test.skipIf(!has('curl'))('curl, which would wait for a minute, is answered', async () => {
  const { stdout } = await run('curl', [
    ...['-sS', '--max-time', '20', '--expect100-timeout', '60', '-H', 'Expect: 100-cONTINUE'],
    ...['-H', `X-API-Key: ${KEY}`, '-H', 'Content-Type: application/json', '-d', POINT],
    `http://127.0.0.1:${server.port}/v1/hexcodes/encode`,
  ]);
  expect(stdout).toContain('-6GHP4-83RF');
});

const JAVA = `
import java.net.URI; import java.net.http.*;
public class Waiting { public static void main(String[] a) throws Exception {
  for (var version : HttpClient.Version.values()) {
    var client = HttpClient.newBuilder().version(version).build();
    for (int n = 0; n < 2; n++) System.out.println(client.send(HttpRequest.newBuilder(URI.create(a[0])).header("X-API-Key", a[1])
      .header("Content-Type", "application/json").expectContinue(true).POST(HttpRequest.BodyPublishers.ofString(a[2])).build(),
      HttpResponse.BodyHandlers.ofString()).statusCode());
  } } }`;

test.skipIf(!has('java'))(
  "Java's client, which spells it 100-Continue, is answered",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hexcodes-expect-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'Waiting.java');
    writeFileSync(file, JAVA);
    const url = `http://127.0.0.1:${server.port}/v1/hexcodes/encode`;
    const { stdout } = await run('java', [file, url, KEY, POINT], { timeout: 100_000 });
    expect(stdout.trim().split('\n')).toEqual(['200', '200', '200', '200']);
  },
  120_000,
);
