// Keys by drawn sequences of calls of the admin port, with a slow model as judge: who is let in, what quotas leave, and
// that each converted point is counted once. Against both stores, where PostgreSQL is installed.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore } from '../../support/keys.js';
import { noPostgres, Postgres } from '../../support/postgres.js';
import { startServer, type TestServer } from '../../support/server.js';

/** Sequences of steps that run side by side, each with keys of its own. */
const SEQUENCES = 20;
/** A key that has ended, or a secret, is refused a second later. */
const NOTICED_MS = 1000;
const KEYS = 3;

interface Key {
  readonly id: string;
  state: 'active' | 'disabled' | 'revoked';
  /** The newest first; the ends of all others. */
  secrets: { readonly text: string; endsMs: number }[];
  expiresMs: number;
  perDay: number | undefined;
  used: number;
}

const NEVER = Number.POSITIVE_INFINITY;
const ends = fc.constantFrom(NEVER, NEVER, 300, 300, 2500);
const quota = fc.constantFrom(undefined, 0, 1, 5, 20, 60);
const which = fc.nat(KEYS - 1);
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      op: fc.constant('convert' as const),
      key: which,
      secret: fc.nat(2),
      points: fc.integer({ min: 1, max: 25 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constant('set' as const),
      key: which,
      expires: fc.option(ends, { nil: undefined }),
      perDay: fc.option(quota, { nil: null }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constant('rotate' as const),
      key: which,
      overlapS: fc.constantFrom(0, 1, 2, 9),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ op: fc.constantFrom('enable' as const, 'disable' as const), key: which }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ op: fc.constantFrom('revoke' as const, 'create' as const), key: which }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ op: fc.constant('wait' as const), ms: fc.constantFrom(300, 1400) }),
  },
);

describe.each(['file', 'postgres'] as const)('keys in a %s', (kind) => {
  const isMissing = kind === 'postgres' && noPostgres !== undefined;
  describe.skipIf(isMissing)(noPostgres ?? '', () => {
    const root = mkdtempSync(join(tmpdir(), 'hexcodes-model-'));
    let postgres: Postgres | undefined;
    let server: TestServer;
    beforeAll(async () => {
      if (kind === 'postgres') postgres = await Postgres.start();
      const store = postgres?.newDatabase();
      const shared = store === undefined ? {} : { store, keyPepper: 'p'.repeat(32) };
      server = await startServer({ ...shared, logLevel: 'warn', dataDir: root });
      const keys = await openStore({ dataDir: root, url: store });
      const [first] = await keys.keys();
      await keys.put({ ...first!, scopes: ['admin'] });
      await keys.close();
      const isAdmin = async (): Promise<boolean> => (await admin('GET', '')).status === 200;
      while (!(await isAdmin())) await sleep(20);
    });
    afterAll(async () => {
      await server.stop();
      await postgres?.remove();
      rmSync(root, { recursive: true });
    });

    const admin = async (method: string, path: string, body?: object): Promise<AdminAnswer> => {
      const answer = await fetch(`http://127.0.0.1:${server.adminPort}/admin/v1/keys${path}`, {
        method,
        headers: { 'X-API-Key': server.key },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      // More calls than the port takes at once.
      if (answer.status === 503 && (await answer.text()) !== '') return admin(method, path, body);
      return { status: answer.status, json: (await answer.json()) as AdminAnswer['json'] };
    };

    async function made(): Promise<Key> {
      const { json } = await admin('POST', '', { name: 'drawn' });
      const secrets = [{ text: json.key as string, endsMs: NEVER }];
      return {
        id: json.id as string,
        state: 'active',
        secrets,
        expiresMs: NEVER,
        perDay: undefined,
        used: 0,
      };
    }

    async function convert(key: Key, secret: number, points: number): Promise<void> {
      const given = key.secrets[Math.min(secret, key.secrets.length - 1)]!;
      const before = Date.now();
      const { status } = await fetch(`${server.base}/v1/hexcodes/encode/batch`, {
        method: 'POST',
        headers: { 'X-API-Key': given.text, 'Content-Type': 'application/json' },
        body: JSON.stringify({ points: Array(points).fill([21.0288, 105.8525]) }),
      });
      const endMs = Math.min(given.endsMs, key.expiresMs);
      const mayBeIn = before <= endMs + NOTICED_MS;
      const mayBeOut = Date.now() >= endMs;
      const perDay = key.perDay || NEVER;
      const inside = points > perDay ? 413 : key.used + points > perDay ? 429 : 200;
      const due = new Set<number>();
      if (key.state === 'revoked') due.add(401);
      else {
        if (mayBeOut) due.add(401);
        if (mayBeIn || (given.endsMs === NEVER && key.state === 'disabled'))
          due.add(key.state === 'disabled' ? 403 : inside);
      }
      expect([...due]).toContain(status);
      if (status === 200) key.used += points;
    }

    const body = async (steps: Step[]): Promise<void> => {
      const keys = await Promise.all(Array.from({ length: KEYS }, made));
      const all = [...keys];
      for (const each of steps) {
        if (each.op === 'wait') {
          await sleep(each.ms);
          continue;
        }
        const key = keys[each.key]!;
        const due = key.state === 'revoked' ? 409 : 200;
        switch (each.op) {
          case 'create':
            keys[each.key] = await made();
            all.push(keys[each.key]!);
            break;
          case 'convert':
            await convert(key, each.secret, each.points);
            break;
          case 'set': {
            const end = each.expires === undefined ? undefined : Date.now() + each.expires;
            const expires =
              end === undefined ? {} : { expires: end === NEVER ? null : new Date(end).toISOString() };
            const limits = each.perDay === null ? {} : { limits: { points_per_day: each.perDay ?? null } };
            const { status } = await admin('PATCH', `/${key.id}`, { ...expires, ...limits });
            if (end === undefined || end > Date.now()) expect(status).toBe(due);
            if (status !== 200) break;
            if (end !== undefined) key.expiresMs = end;
            if (each.perDay !== null) key.perDay = each.perDay;
            break;
          }
          case 'rotate': {
            const { status, json } = await admin('POST', `/${key.id}/rotate`, {
              overlap: each.overlapS === 0 ? '0' : `${each.overlapS}s`,
            });
            expect(status).toBe(due);
            if (status !== 200) break;
            const overlap = json.overlap_until as string | null;
            for (const [at, secret] of key.secrets.entries())
              secret.endsMs = at > 0 || overlap === null ? 0 : Date.parse(overlap);
            key.secrets.unshift({ text: json.key as string, endsMs: NEVER });
            break;
          }
          default: {
            const { status, json } = await admin('POST', `/${key.id}/${each.op}`);
            expect(status).toBe(each.op === 'revoke' ? 200 : due);
            if (status !== 200) break;
            key.state = json.state as Key['state'];
            expect(key.state).toBe({ enable: 'active', disable: 'disabled', revoke: 'revoked' }[each.op]);
          }
        }
      }
      for (const key of all) {
        const { json } = await admin('GET', `/${key.id}`);
        expect([json.state, json.generation]).toEqual([key.state, key.secrets.length]);
        if (key.state !== 'active' || key.expiresMs !== NEVER) continue;
        const answer = await fetch(`${server.base}/v1/usage`, {
          headers: { 'X-API-Key': key.secrets[0]!.text },
        });
        expect(((await answer.json()) as { day: { points: number } }).day.points).toBe(key.used);
      }
    };

    test('are let in, counted and refused as a model says', async () => {
      const sequence = fc.array(step, { minLength: 10, maxLength: 60, size: 'max' });
      const sequences = fc.array(sequence, { minLength: SEQUENCES, maxLength: SEQUENCES, size: 'max' });
      const run = async (drawn: Step[][]): Promise<void> => void (await Promise.all(drawn.map(body)));
      await fc.assert(fc.asyncProperty(sequences, run), { numRuns: 1, endOnFailure: true });
    });
  });
});

interface AdminAnswer {
  readonly status: number;
  readonly json: { readonly [member: string]: unknown };
}

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
