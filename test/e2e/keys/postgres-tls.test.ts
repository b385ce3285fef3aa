// PostgreSQL that takes TLS connections only: encryption and credentials are as the URL of HEXCODES_STORE has them.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noPostgres, Postgres } from '../../support/postgres.js';

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
const why = noPostgres ?? (hasOpenssl ? undefined : 'no openssl');

describe.skipIf(why !== undefined)(`PostgreSQL by TLS${why === undefined ? '' : ` (${why})`}`, () => {
  const root = mkdtempSync(join(tmpdir(), 'hexcodes-tls-'));
  let postgres: Postgres;
  let certificate: string;
  beforeAll(async () => {
    postgres = await Postgres.start();
    certificate = await postgres.requireTls();
  });
  afterAll(async () => {
    await postgres.remove();
    rmSync(root, { recursive: true });
  });

  const init = (url: string) =>
    spawnSync(process.execPath, ['dist/cli/main.js', 'keys', 'init', '--data-dir', join(root, 'data')], {
      encoding: 'utf8',
      env: { ...process.env, HEXCODES_STORE: url, HEXCODES_KEY_PEPPER: 'a pepper of the test' },
    });

  test('a certificate of the URL is believed, no other, and no connection goes on without TLS', () => {
    const trusted = init(postgres.url('postgres', `?sslmode=verify-full&sslrootcert=${certificate}`));
    expect([trusted.status, trusted.stderr]).toEqual([
      0,
      expect.stringContaining('the key store is postgres://'),
    ]);
    const unknown = init(postgres.url('postgres', '?sslmode=verify-full'));
    expect([unknown.status, unknown.stderr]).toEqual([
      1,
      'hexcodes: the certificate of the database of HEXCODES_STORE is not trusted (self-signed certificate)\n',
    ]);
    const plain = init(postgres.url());
    expect([plain.status, plain.stderr]).toEqual([
      1,
      'hexcodes: the database of HEXCODES_STORE refuses the user of HEXCODES_STORE\n',
    ]);
  });
});
