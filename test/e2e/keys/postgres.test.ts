// The store that several nodes share: two services on one PostgreSQL, which is killed, frozen and back; and TLS.

import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { becomes, logged, statusOf } from '../../support/http-calls.js';
import { noPostgres, POSTGRES_PASSWORD, Postgres } from '../../support/postgres.js';
import { startServer, type TestServer } from '../../support/server.js';

const PEPPER = 'a pepper that all nodes have in common';

describe.skipIf(noPostgres !== undefined)(
  `PostgreSQL${noPostgres === undefined ? '' : ` (${noPostgres})`}`,
  () => {
    const root = mkdtempSync(join(tmpdir(), 'hexcodes-nodes-'));
    let postgres: Postgres;
    let store: string;
    beforeAll(async () => {
      postgres = await Postgres.start();
    });
    afterAll(async () => {
      await postgres.remove();
      rmSync(root, { recursive: true });
    });
    beforeEach(() => {
      store = postgres.newDatabase();
    });

    /** `hexcodes keys …`, beside the services of this process. */
    const keys = (args: string[], env: Record<string, string> = {}) =>
      new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
        const child = spawn(
          process.execPath,
          ['dist/cli/main.js', 'keys', ...args, '--data-dir', mkdtempSync(join(root, 'cli-'))],
          { env: { ...process.env, HEXCODES_STORE: store, HEXCODES_KEY_PEPPER: PEPPER, ...env } },
        );
        const texts = { stdout: '', stderr: '' };
        for (const name of ['stdout', 'stderr'] as const)
          child[name].on('data', (bytes: Buffer) => {
            texts[name] += bytes.toString();
          });
        child.on('close', (code) => resolve({ code, ...texts }));
      });
    const made = async (name: string) => {
      const { stdout, stderr } = await keys(['create', name, '--show']);
      return { text: stdout.trim(), id: /made key (\w+)/.exec(stderr)?.[1] as string };
    };
    const node = () => startServer({ store, keyPepper: PEPPER, dataDir: mkdtempSync(join(root, 'node-')) });
    test('two nodes made at once share one first key, and follow every change; no secret is in their logs', async () => {
      const nodes = await Promise.all([node(), node()]);
      const first = nodes.map(({ key }) => key).filter((key) => key !== '');
      expect(first).toHaveLength(1);
      for (const server of nodes) expect(await statusOf(server, first[0]!)).toBe(200);
      const { text, id } = await made('fleet');
      for (const server of nodes) await becomes(server, text, 200);
      await keys(['disable', id]);
      for (const server of nodes) await becomes(server, text, 403);
      await keys(['revoke', id]);
      for (const server of nodes) await becomes(server, text, 401);
      for (const server of nodes) {
        await server.stop();
        for (const secret of [
          POSTGRES_PASSWORD,
          encodeURIComponent(POSTGRES_PASSWORD),
          PEPPER,
          text,
          first[0]!,
        ])
          expect(server.log()).not.toContain(secret);
      }
      const list = JSON.parse((await keys(['list', '--json'])).stdout) as {
        name: string;
        last_used: string;
      }[];
      expect(list.find(({ name }) => name === 'first')?.last_used).toMatch(/^20/);
    });

    test('a change without a notification is found by the next poll', async () => {
      const server = await node();
      postgres.sql(
        'CREATE OR REPLACE FUNCTION pg_temp.nothing() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$',
        store,
      );
      const { text, id } = await made('quiet');
      await becomes(server, text, 200);
      // As behind a bouncer that hands each transaction to another connection: nobody listens any more.
      postgres.sql("SELECT pg_notify('other', '')", store);
      postgres.sql(
        `CREATE OR REPLACE FUNCTION hexcodes_key_changed() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN UPDATE hexcodes_store SET change = change + 1 RETURNING change INTO NEW.change; RETURN NEW; END $$;
       UPDATE hexcodes_key SET state = 'disabled' WHERE id = '${id}'`,
        store,
      );
      await becomes(server, text, 403);
      await server.stop();
    });

    test.each(['SIGINT', 'SIGQUIT'] as const)(
      'the database ends by %s: requests go on, log and readiness say so, and what changes then holds once it is back',
      async (how) => {
        const server = await node();
        const { text, id } = await made('fleet');
        await becomes(server, text, 200);
        await postgres.halt(how);
        await logged(server, 'the key store cannot be read; the keys read last hold');
        expect(server.log()).toMatch(/"reason":"the database of HEXCODES_STORE [a-z ]+"/);
        const readiness = await fetch(`http://127.0.0.1:${server.adminPort}/readyz`);
        expect([readiness.status, await readiness.text()]).toEqual([
          200,
          expect.stringContaining('warning: the database of HEXCODES_STORE'),
        ]);
        for (let i = 0; i < 20; i++) expect(await statusOf(server, text)).toBe(200);
        expect(await statusOf(server, 'unknown')).toBe(401);
        const failed = await keys(['list']);
        expect([failed.code, failed.stdout]).toEqual([1, '']);
        expect(failed.stderr).toMatch(/^hexcodes: the database of HEXCODES_STORE takes no connections\n$/);
        await postgres.resume();
        expect((await keys(['revoke', id])).code).toBe(0);
        await becomes(server, text, 401);
        await logged(server, 'the key store can be read again');
        // Usage is in the same database, and its thread tries again in its own time.
        const readyz = async () => (await fetch(`http://127.0.0.1:${server.adminPort}/readyz`)).text();
        await expect.poll(readyz).toBe('ready\n');
        await server.stop();
      },
      60_000,
    );

    test('a database that hangs counts as unreachable; the service can still stop', async () => {
      const server = await node();
      const { text } = await made('fleet');
      await becomes(server, text, 200);
      postgres.freeze(true);
      onTestFinished(() => postgres.freeze(false));

      await logged(server, 'the database of HEXCODES_STORE does not answer');
      expect(await statusOf(server, text)).toBe(200);
      await server.stop();
    });

    test('wrong passwords, databases and addresses are refused with a sentence, without the password', async () => {
      const wrong = store.replace(encodeURIComponent(POSTGRES_PASSWORD), 'wrong-secret');
      for (const [url, why] of [
        [wrong, 'refuses the password of HEXCODES_STORE'],
        [postgres.url('nothing'), 'has no such database'],
        ['postgres://hexcodes:wrong-secret@127.0.0.1:1/db', 'takes no connections'],
        ['postgres://hexcodes:wrong-secret@nowhere.invalid/db', 'is not there'],
      ] as const) {
        const { code, stderr } = await keys(['init'], { HEXCODES_STORE: url });
        expect([code, stderr]).toEqual([1, expect.stringContaining(why)]);
        expect(stderr).not.toContain('wrong-secret');
        await expect(
          startServer({ store: url, keyPepper: PEPPER, dataDir: mkdtempSync(join(root, 'node-')) }),
        ).rejects.toThrow(why);
      }
      const { code, stderr } = await keys(['list'], { HEXCODES_STORE: 'mysql://a:wrong-secret@b/c' });
      expect([code, stderr]).toEqual([2, 'hexcodes: HEXCODES_STORE must begin with postgres://\n']);
    });

    test('only `keys init` and the service make the tables; those of a later version are refused', async () => {
      const none = await keys(['list']);
      expect([none.code, none.stderr]).toEqual([
        1,
        expect.stringContaining('there is no key store in postgres://'),
      ]);
      expect((await keys(['init'])).code).toBe(0);
      expect((await keys(['init'])).code).toBe(0);
      expect((await keys(['list'])).code).toBe(0);
      postgres.sql('UPDATE hexcodes_store SET version = 99', store);
      expect((await keys(['list'])).stderr).toContain('was written by a later version of hexcodes');
      await expect(node()).rejects.toThrow('was written by a later version');
    });

    test('a node with another pepper is refused, and so is one that has none for the keys that are there', async () => {
      await keys(['init']);
      await made('fleet');
      const other = { store, keyPepper: 'quite another pepper', dataDir: mkdtempSync(join(root, 'node-')) };
      await expect(startServer(other)).rejects.toThrow('hashed under another pepper');
      const without = { store, dataDir: mkdtempSync(join(root, 'node-')) };
      await expect(startServer(without)).rejects.toThrow(/pepper is missing, .*HEXCODES_KEY_PEPPER/);
      const pepperFile = join(root, 'pepper-file');
      writeFileSync(pepperFile, `${PEPPER}\n`);
      const list = await keys(['create', 'by file', '--show'], {
        HEXCODES_KEY_PEPPER: '',
        HEXCODES_KEY_PEPPER_FILE: pepperFile,
      });
      expect(list.stderr).not.toContain('another pepper');
    });
  },
);

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

  test('only the certificate of the URL is trusted, and no connection continues without TLS', () => {
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
