// The commands of `hexcodes job` where something was broken off or is away: cancelling, waiting, trying again, other
// subjects.
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { JobFolder } from '../../support/engine/job-folder.js';
import { NatsServer, natsNote, noNats } from '../../support/nats.js';

/** Requests of the connection that has made most. */
async function requestsOf({ monitorPort }: NatsServer): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${monitorPort}/connz`);
  const { connections } = (await answer.json()) as { connections: { in_msgs: number }[] };
  return Math.max(0, ...connections.map(({ in_msgs }) => in_msgs));
}

describe.skipIf(noNats !== undefined)(`commands of hexcodes job${natsNote}`, () => {
  let folder: JobFolder;
  let server: NatsServer;
  beforeAll(async () => {
    server = await NatsServer.start();
  });
  afterAll(() => server.remove());
  beforeEach(async () => {
    folder = await JobFolder.make(server);
  });
  afterEach(() => folder.end());

  test('a job that is cancelled goes on when it is submitted again', async () => {
    for (let i = 0; i < 5; i++) folder.csv(`in/${i}.csv`, i + 2);
    const id = await folder.submit('in/*.csv');
    expect((await folder.job('cancel', id.slice(0, 6))).stderr).toBe(
      `hexcodes: job ${id} is cancelled\n`.slice(10),
    );
    expect([(await folder.job('status', id)).code, (await folder.job('status')).stdout]).toEqual([
      1,
      expect.stringContaining('cancelled, 0 of 5 parts'),
    ]);
    const worker = folder.start();
    await worker.says('works on');
    expect((await folder.job('submit', 'in/*.csv', '--to', 'out')).stderr).toContain(
      '5 parts of 5 files, 0 MB → out',
    );
    expect((await folder.ended(id)).code).toBe(0);
    expect(folder.manifest(id).parts).toHaveLength(5);
    expect((await folder.job('cancel', id)).stderr).toContain('has ended');
  });

  test('a job whose cancelling was broken off goes on when it is submitted again', async () => {
    for (let i = 0; i < 3; i++) folder.csv(`in/${i}.csv`);
    const id = await folder.submit('in/*.csv');
    // The mark is there, and the parts are too.
    await jetstream(await server.connect()).publish(`${folder.prefix}.cancelled.${id}`, '{}');
    const worker = folder.start();
    await worker.says(/3 done by others/);
    expect((await folder.job('submit', 'in/*.csv', '--to', 'out')).stderr).toContain(
      '3 parts of 3 files, 0 MB → out',
    );
    expect((await folder.ended(id)).code).toBe(0);
    expect(folder.manifest(id).parts).toHaveLength(3);
  });

  test('waiting without a name: the job that is under way, or the one that ended last', async () => {
    const none = await folder.job('status', '--wait');
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('--wait: there are no jobs')]);
    folder.csv('in/x.csv');
    folder.start();
    const first = await folder.submit('in/x.csv', '-r', '9');
    expect((await folder.job('status', '--wait')).stdout).toContain(`job ${first}: ended`);
    const second = await folder.submit('in/x.csv', '-r', '8');
    await folder.ended(second);
    expect((await folder.job('status', '--wait')).stdout).toContain(`job ${second}: ended`);
    const all = JSON.parse((await folder.job('status', '--json')).stdout) as Record<string, unknown>[];
    const counts = { state: 'ended', parts: 1, doneParts: 1, rows: 3, failedRows: 1, failures: [] };
    expect(all).toMatchObject([first, second].map((id) => ({ id, ...counts })));
  });

  test('waiting goes on while the servers are away', async () => {
    folder.csv('in/x.csv');
    const id = await folder.submit('in/x.csv');
    let said = '';
    const waiting = folder.run(['job', 'status', id, '--wait', ...folder.place()], {
      started: (child) => {
        child.stderr!.on('data', (text: Buffer) => {
          said += text.toString();
        });
      },
    });
    // Two looks at the job, and more, are over.
    await expect.poll(() => requestsOf(server), { timeout: 60_000 }).toBeGreaterThan(30);
    await server.kill();
    await expect.poll(() => said, { timeout: 60_000 }).toContain('waiting for the servers');
    await server.resume();
    folder.start();
    const ran = await waiting;
    expect([ran.code, ran.stdout]).toEqual([0, expect.stringContaining(`job ${id}: ended`)]);
    expect(ran.stderr.match(/waiting for the servers/g)).toHaveLength(1);
  });

  test('jobs under another subject need another stream', async () => {
    const { stream, prefix } = folder;
    const other = ['--subject', `others-${prefix}`, '--nats', server.url];
    const refused = await folder.run(['job', 'setup', '--stream', stream, ...other]);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      `hexcodes: consumer job-workers of ${stream} hands out ${prefix}.part.>, and not others-${prefix}.part.>\nJobs under another --subject need another --stream\n`,
    ]);
    expect((await folder.run(['job', 'status', '--stream', stream, ...other])).stderr).toContain(
      `does not take others-${prefix}.>: it takes ${prefix}.>`,
    );
    expect((await folder.run(['job', 'setup', '--stream', `${stream}B`, ...other])).code).toBe(0);
    expect((await folder.job('setup', '--ack-wait', '2s')).stderr).toMatch(/^kept .*\nkept .*\n$/);
  });

  test('a stream that takes more subjects, and a consumer that hands out others', async () => {
    const { stream, prefix } = folder;
    const jsm = await jetstreamManager(await server.connect());
    await jsm.streams.update(stream, { subjects: [`${prefix}.>`, `more-${prefix}.>`] });
    expect((await folder.job('status')).stdout).toBe('no jobs\n');
    await jsm.consumers.update(stream, 'job-workers', { filter_subject: `more-${prefix}.>` });
    const ran = await folder.job('status');
    expect([ran.code, ran.stderr.split('\n')[0]]).toEqual([
      1,
      `hexcodes: consumer job-workers of ${stream} hands out more-${prefix}.>, and not ${prefix}.part.>`,
    ]);
  });

  test('failed parts that are no longer in the stream, and those of a cancelled job', async () => {
    folder.write('in/a.csv', 'a,b\n1,2\n');
    folder.write('in/b.csv', 'a,b\n1,2\n');
    const id = await folder.submit('in/*.csv');
    const worker = folder.start();
    expect((await folder.ended(id)).stdout).toContain('2 parts failed');
    await worker.end();
    const jsm = await jetstreamManager(await server.connect());
    await jsm.streams.purge(folder.stream, { filter: `${folder.prefix}.part.${id}.2` });
    expect((await folder.job('retry', id)).stderr).toBe(
      `job ${id}: 1 part handed out again\n1 part no longer in the stream: submit the job again\n`,
    );
    expect((await folder.job('submit', 'in/*.csv', '--to', 'out')).stderr).toContain(
      '1 added, 0 done before',
    );
    expect((await folder.job('cancel', id)).code).toBe(0);
    const ran = await folder.job('retry', id);
    expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining(`job ${id} is cancelled`)]);
  });
});
