// A flood of connections that show no key, more than the service has: whoever has one is served.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { askRaw, rawClient } from '../../../../support/raw-client.js';
import { ServeCommand } from '../../../../support/serve-command.js';

const FLOOD = 'build/test/support/peers/keyless.js';
const KEY = 'one_key_0123456789abcdef';
const HEAD = `HTTP/1.1\r\nHost: a\r\nX-API-Key: ${KEY}\r\n`;
const SINGLE = `GET /v1/hexcodes/encode?lat=21&lng=105.8 ${HEAD}\r\n`;
const BATCH_BODY = '{"points":[{"lat":21,"lng":105.8}]}';
const BATCH = `POST /v1/hexcodes/encode/batch ${HEAD}Content-Type: application/json\r\n`;
const CSV = 'lat,lng\n21,105.8\n';
const BULK = `POST /v1/hexcodes/encode/bulk ${HEAD}Content-Type: text/csv\r\nTransfer-Encoding: chunked\r\n`;

test.each([
  ['the same address', '127.0.0.1'],
  ['another address', '127.0.0.2'],
])(
  'a flood of 2,000 keyless connections: 20 of 20 calls from %s are answered',
  async (_, from) => {
    const command = new ServeCommand(['--max-connections', '1000'], { HEXCODES_API_KEYS: `one:${KEY}` });
    onTestFinished(async () => void (await command.stop()));
    const base = await command.base();
    const port = Number(new URL(base).port);
    const flood = spawn(process.execPath, [FLOOD, String(port), '127.0.0.1', '2000', '1000'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    onTestFinished(() => void flood.kill());
    await once(flood.stdout, 'data');
    const calls: (readonly string[])[] = [
      [SINGLE],
      [`${BATCH}Content-Length: ${BATCH_BODY.length}\r\n\r\n${BATCH_BODY}`],
      [`${BATCH}Content-Length: ${BATCH_BODY.length}\r\n\r\n`, BATCH_BODY],
      [`${BULK}\r\n`, `${CSV.length.toString(16)}\r\n${CSV}\r\n0\r\n\r\n`],
    ];
    for (let call = 0; call < 20; call++) {
      const answer = await askRaw(await rawClient(port, from), calls[call % calls.length]!);
      expect(answer, `call ${call}`).toMatch(/^HTTP\/1\.1 200 /);
      await sleep(100);
    }
    const page = await (await fetch(`${await command.adminBase()}/metrics`)).text();
    expect(Number(/^hexcodes_connections (.*)$/m.exec(page)?.[1])).toBeLessThanOrEqual(1000);
    expect(
      Number(/^hexcodes_connections_refused_total{reason="limit"} (.*)$/m.exec(page)?.[1]),
    ).toBeGreaterThan(0);
  },
  60_000,
);
