// Messages of somebody who may publish whatever he likes: nothing outside the share is read, written or removed,
// nothing in it is that was there before, and the work of others goes on.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { JobPart, JobPlan } from '#dist/bus/jobs/job.js';
import { idOfPlan, treeOf } from '#dist/bus/jobs/job-digest.js';
import { VERSION } from '#dist/hexcodes/version.js';
import { JobFolder } from '../../support/engine/job-folder.js';
import { NatsServer, natsNote, noNats } from '../../support/nats.js';

const conversion = {
  ...{ operation: 'encode', from: null, to: null, resolution: 12, isFormer: false },
  ...{ columns: { prefix: '' }, csv: { delimiter: null, decimal: '.', hasHeader: true }, input: {} },
  errors: { kind: 'keep' },
};

describe.skipIf(noNats !== undefined)(`jobs${natsNote}`, () => {
  let folder: JobFolder;
  let server: NatsServer;
  let nc: NatsConnection;
  let elsewhere: string;
  beforeAll(async () => {
    server = await NatsServer.start();
    nc = await server.connect();
  });
  afterAll(() => server.remove());
  beforeEach(async () => {
    elsewhere = mkdtempSync(join(tmpdir(), 'hexcodes-elsewhere-'));
    writeFileSync(join(elsewhere, 'authorized_keys'), 'mine');
    folder = await JobFolder.make(server);
    folder.csv('in/x.csv');
    mkdirSync(folder.file('kept/deep'), { recursive: true });
    folder.write('kept/deep/mine.csv', 'mine');
  });
  afterEach(async () => {
    await folder.end();
    rmSync(elsewhere, { recursive: true });
  });

  const put = (words: string, body: unknown): void =>
    nc.publish(`${folder.prefix}.${words}`, typeof body === 'string' ? body : JSON.stringify(body));
  const deadOnes = async (): Promise<number> => {
    const { state } = await (await jetstreamManager(nc)).streams.info(folder.stream, {
      subjects_filter: `${folder.prefix}.dead.>`,
    });
    return Object.keys(state.subjects ?? {}).length;
  };

  /** A job with right digests, as an attacker who reads our source makes it. */
  function forged(plan: Partial<JobPlan>, part: Partial<JobPart> = {}): { plan: JobPlan; part: JobPart } {
    const { size: sizeBytes, mtimeMs } = statSync(folder.file('in/x.csv'));
    const leaf = {
      ...{ part: 1, input: 'in/x.csv', file: { sizeBytes, modifiedMs: Math.floor(mtimeMs) }, range: null },
      ...{ sizeBytes, from: 'csv', to: 'csv', output: 'forged.csv', ...part },
    };
    const { digest: partsDigest, proofs } = treeOf([leaf]);
    const shape = {
      ...{ version: VERSION, operation: 'encode' as const, output: 'out', files: 1, parts: 1, sizeBytes },
      ...{ partsDigest, conversion, ...plan },
    };
    const id = plan.id ?? idOfPlan(shape);
    return { plan: { id, ...shape }, part: { job: id, ...leaf, proof: proofs[0]! } };
  }

  function publish({ plan, part }: { plan: JobPlan; part: JobPart }): void {
    put(`plan.${plan.id}`, plan);
    put(`part.${plan.id}.1`, part);
  }

  /** That an honest job is still done, behind all that was published before. */
  async function honestJob(): Promise<void> {
    await nc.flush();
    const id = await folder.submit('in/x.csv');
    const ran = await folder.ended(id);
    expect([ran.code, ran.stdout]).toEqual([0, expect.stringContaining('1 of 1 parts')]);
  }

  test('a plan removes no folder', async () => {
    const worker = folder.start();
    await worker.says('works on');
    // As it was reported, and with the schema and the id right.
    put('plan.any', {
      ...{ id: 'x/..', version: VERSION, operation: 'encode', output: '.', conversion: {} },
      ...{ files: 0, parts: 0, sizeBytes: 0 },
    });
    for (const id of ['x/..', '..', '../kept', '0123456789abcdef', '__proto__']) {
      const plan = { ...forged({ output: '.' }).plan, id };
      put('plan.0123456789abcdef', plan);
      put(`plan.${encodeURIComponent(id).replaceAll('.', '%2E')}`, plan);
    }
    for (const output of ['..', '/', elsewhere, 'kept/../..', 'kept/./deep', '', 'kept\0', 'a'.repeat(5000)])
      publish(forged({ output }));
    await worker.says(/is none, and it is left out/);
    await honestJob();
    expect(folder.read('kept/deep/mine.csv')).toBe('mine');
    expect(readdirSync(elsewhere)).toEqual(['authorized_keys']);
  });

  test('a plan and its part write over no file, in the share and out of it', async () => {
    const file = join(elsewhere, 'authorized_keys');
    const up = `../../../../../../../..${file}`;
    for (const path of [file, up, 'rejects.csv'])
      publish(forged({ conversion: { ...conversion, errors: { kind: 'file', path } } }));
    for (const output of [file, up, '../kept/deep/mine.csv']) publish(forged({}, { output }));
    publish(forged({ output: 'kept/deep' }, { output: 'mine.csv' }));
    publish(forged({ output: 'in' }, { output: 'x.csv' }));
    for (const input of [file, up, 'kept/../../etc/passwd'])
      publish(forged({}, { input, output: 'leak.csv' }));
    for (const change of [
      { conversion: { ...conversion, threads: 64 } },
      { conversion: { ...conversion, resolution: 1e300 } },
      { conversion: { ...conversion, input: { part: { kind: 'bytes' } } } },
      { conversion: JSON.parse('{"__proto__":{"operation":"encode"}}') as unknown },
      { parts: 1e9 },
      { sizeBytes: -1 },
      { operation: '\u001b[2J' as never },
    ])
      publish(forged(change));
    folder.start();
    await honestJob();
    expect(readFileSync(file, 'utf8')).toBe('mine');
    expect(folder.read('kept/deep/mine.csv')).toBe('mine');
    expect(folder.read('in/x.csv')).not.toContain('HN-');
    expect(readdirSync(folder.file('out')).filter((name) => !/^manifest-/.test(name))).toEqual(['x.csv']);
    expect(existsSync(folder.file('rejects.csv'))).toBe(false);
  });

  test('parts that are not those of the plan: duplicates, others, of other jobs, of no folder', async () => {
    const right = forged({ output: 'none/such/folder' });
    put(`plan.${right.plan.id}`, right.plan);
    put(`part.${right.plan.id}.1`, { ...right.part, output: 'other.csv' });
    put(`part.${right.plan.id}.1`, right.part);
    put(`part.${right.plan.id}.2`, right.part);
    put(`part.${right.plan.id}.99999999`, { ...right.part, part: 99_999_999 });
    const other = forged({}, { output: 'second.csv' });
    put(`plan.${other.plan.id}`, other.plan);
    put(`part.${other.plan.id}.1`, right.part);
    put(`result.${other.plan.id}.1`, { job: right.plan.id, part: 1 });
    folder.start();
    await honestJob();
    expect(await deadOnes()).toBe(3);
    expect(existsSync(folder.file('none'))).toBe(false);
    const status = await folder.job('status', other.plan.id, '--wait');
    expect([status.code, status.stdout]).toEqual([
      1,
      expect.stringContaining('under the subject of its result'),
    ]);
    // The message there is removed; the part of another job is not handed out again.
    expect((await folder.job('retry', other.plan.id)).stderr).toContain('1 part no longer in the stream');
  });

  test('messages that are no parts hold nobody up, more of them than the consumer hands out', async () => {
    for (let i = 0; i < 10_500; i++) put(`part.p.${i}`, 'x');
    await nc.flush();
    const worker = folder.start();
    await honestJob();
    await worker.says(/10,500 dead letters/);
    expect(await deadOnes()).toBe(10_500);
  });

  test('other messages under the subjects of marks end and cancel nothing', async () => {
    const id = await folder.submit('in/x.csv');
    // The answer of a server to a message whose producer has asked for it there.
    for (const kind of ['cancelled', 'ended'])
      nc.publish(`${folder.prefix}.${kind}.${id}`, '{"stream":"F", "seq":1}');
    await nc.flush();
    expect((await folder.job('status', id)).stdout).toContain('0 of 1 parts');
    const worker = folder.start();
    await worker.says(/is no mark of its end: hexcodes job retry/);
    expect((await folder.job('retry', id)).code).toBe(0);
    await (await jetstreamManager(nc)).streams.purge(folder.stream, {
      filter: `${folder.prefix}.ended.${id}`,
    });
    expect((await folder.ended(id)).code).toBe(0);
  });

  test('status shows what is on the bus without its control characters', async () => {
    const odd = '\u001b]0;title\u0007\u009b31m\u202e';
    publish(forged({ output: odd }));
    publish(forged({ operation: odd as never }));
    put('plan.fedcba9876543210', odd);
    const { plan } = forged({ output: `${odd}2` });
    put(`plan.${plan.id}`, plan);
    put(`result.${plan.id}.1`, {
      ...{ job: plan.id, part: 1, input: odd, range: null, inputBytes: 1, elapsedMs: 1, worker: 'w' },
      ...{ output: null, reason: odd },
    });
    await nc.flush();
    for (const args of [[], ['--json'], [plan.id], [plan.id, '--json'], ['fedcba98']]) {
      const { stdout, stderr } = await folder.job('status', ...args);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
      expect(`${stdout}${stderr}`).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
      expect(`${stdout}${stderr}`).toMatch(/\\u001b|is none|not what its subject says/);
    }
    expect((await folder.job('status', plan.id)).stdout).toContain(`\\u001b]0;title\\u0007`);
  });

  test('a share of another user, in which nothing can be written, ends no worker', async () => {
    publish(forged({ output: 'kept/closed' }));
    mkdirSync(folder.file('kept/closed'));
    chmodSync(folder.file('kept/closed'), 0o500);
    folder.start();
    await honestJob();
    chmodSync(folder.file('kept/closed'), 0o700);
  });
});
