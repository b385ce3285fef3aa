// `hexcodes serve --processes N`: one port for all, crashes, reloads, signals, and the admin port that speaks for all.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { Load } from '../../support/load.js';
import { scrape, sumOf } from '../../support/metrics.js';
import { freePort } from '../../support/network.js';
import { OPEN_INDEX } from '../../support/open-world.js';
import { COMMAND_KEY, ServeCommand } from '../../support/server-process.js';

const services: ServeCommand[] = [];
afterEach(() => {
  for (const service of services.splice(0)) service.remove();
});

function serve(args: readonly string[], env: Record<string, string> = {}): ServeCommand {
  const service = new ServeCommand(args, env);
  services.push(service);
  return service;
}

const headers = { 'X-API-Key': COMMAND_KEY };
const hasScript = spawnSync('script', ['--version']).status === 0;
const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);
const metaOf = async (base: string): Promise<{ boundary_data: { source: string } }> =>
  (await fetch(`${base}/v1/meta`, { headers: { ...headers, Connection: 'close' } })).json();

describe.skipIf(process.platform !== 'linux')('several processes (Linux)', () => {
  test('kill -9 of one under load: clients of the other lose nothing, and another process takes its place', async () => {
    const service = serve(['--processes', '2', '--own-ports', '--port', String(await freePort(3))]);
    const shared = await service.base();
    const { pids, port } = await service.line('all processes listen');
    const [firstPid, secondPid] = pids as [number, number];
    const ofFirst = `http://127.0.0.1:${(port as number) + 1}`;
    const load = new Load({ base: ofFirst, key: COMMAND_KEY, mayLoseNothing: true, pauseMs: 10 });
    const ofOther = new Load({
      base: shared,
      key: COMMAND_KEY,
      mayLoseNothing: false,
      pauseMs: 10,
      streams: 0,
      uploads: 0,
    });
    await load.reach(40, 40);
    await ofOther.reach(20);
    process.kill(secondPid, 'SIGKILL');
    const died = await service.line('a process has died');
    expect(died).toMatchObject({ process: 2, pid: secondPid, ending: 'SIGKILL', restart_in_ms: 0 });
    const again = await service.line('the process listens again');
    expect(again).toMatchObject({ process: 2 });
    const { requests, frames } = load;
    await load.reach(requests + 40, frames + 40);
    await load.stop();
    await ofOther.stop();
    expect(load.faults).toEqual([]);
    expect(load.unanswered).toBe(0);
    expect([...load.closings.keys()]).toEqual([1000]);
    // The one that took its place has both ports as well.
    expect((await fetch(`http://127.0.0.1:${(port as number) + 2}/v1/meta`, { headers })).status).toBe(200);
    expect(await service.stop()).toBe(0);
    for (const pid of [firstPid, again.pid as number]) expect(isAlive(pid)).toBe(false);
    expect(service.lines('stopped')).toHaveLength(2);
  });

  test('a stop while a process is replaced, before the other listens, is no failure', async () => {
    const service = serve(['--processes', '2']);
    await service.base();
    service.child.kill('SIGHUP');
    await service.line('reloading');
    expect(await service.stop()).toBe(0);
  });

  test('kill -SEGV again and again: the log names the signal, the pause grows, and the other serves on', async () => {
    const service = serve(['--processes', '2', '--own-ports', '--port', String(await freePort(3))]);
    await service.base();
    const { port } = await service.line('all processes listen');
    const ofFirst = `http://127.0.0.1:${(port as number) + 1}/v1/meta`;
    const answers = new Set<number>();
    let isOver = false;
    const asking = (async () => {
      for (; !isOver; await sleep(20)) answers.add((await fetch(ofFirst, { headers })).status);
    })();
    let pid = ((await service.line('all processes listen')).pids as number[])[1] as number;
    for (let count = 1; count <= 3; count++) {
      process.kill(pid, 'SIGSEGV');
      const died = await service.line('a process has died', count);
      expect(died).toMatchObject({ process: 2, pid, ending: 'SIGSEGV' });
      expect(died.restart_in_ms).toBe([0, 1000, 2000][count - 1]);
      pid = (await service.line('the process listens again', count)).pid as number;
    }
    isOver = true;
    await asking;
    expect([...answers]).toEqual([200]);
    expect(await service.stop()).toBe(0);
  });

  test('one process without a supervisor dies of its signal, which the unit or the container sees', async () => {
    const service = serve([]);
    await service.base();
    service.child.kill('SIGSEGV');
    expect(await service.exit).toBe('SIGSEGV');
  });

  test('SIGHUP: the processes are replaced one by one without a lost request, and serve the new index and settings', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hexcodes-reload-'));
    const config = join(folder, 'hexcodes.env');
    writeFileSync(config, '');
    const service = serve(['--processes', '2', '--config', config, '--drain-ms', '300']);
    const base = await service.base();
    const { pids } = await service.line('all processes listen');
    expect((await metaOf(base)).boundary_data.source).toMatch(/OpenStreetMap/);

    // A fault in the file: everything stays.
    writeFileSync(config, 'HEXCODES_GRACE_MS=x');
    service.child.kill('SIGHUP');
    expect(
      String(
        (await service.line('not reloaded: the processes that are not replaced go on as they were')).reason,
      ),
    ).toBe(`${config}:1 HEXCODES_GRACE_MS must be an integer from 0 to 600000`);
    // An index that is none: the first process with it cannot start, and everything stays.
    writeFileSync(join(folder, 'index.bin'), 'none');
    writeFileSync(config, `HEXCODES_INDEX=${join(folder, 'index.bin')}\nHEXCODES_ADMIN_HOST=::1`);
    service.child.kill('SIGHUP');
    const refused = await service.line(
      'not reloaded: the processes that are not replaced go on as they were',
      2,
    );
    expect(String(refused.reason)).toMatch(/index/);
    expect(service.lines('these settings change with a restart only')).toMatchObject([
      { settings: ['adminHost'] },
    ]);
    expect((pids as number[]).every(isAlive)).toBe(true);
    expect((await metaOf(base)).boundary_data.source).toMatch(/OpenStreetMap/);

    writeFileSync(join(folder, 'index.bin'), OPEN_INDEX);
    const load = new Load({
      base,
      key: COMMAND_KEY,
      mayLoseNothing: false,
      pauseMs: 10,
      singles: 4,
      batches: 1,
      uploads: 1,
      streams: 1,
    });
    await load.reach(20, 20);
    service.child.kill('SIGHUP');
    await service.line('reloaded');
    for (let i = 0; i < 20; i++) expect((await metaOf(base)).boundary_data.source).toBe('made up');
    const { requests } = load;
    await load.reach(requests + 20);
    await load.stop();
    // Conversions of the old index and of the new one are both right here; an answer that is cut off is a fault.
    expect(load.faults.filter((fault) => !fault.includes(': 200, '))).toEqual([]);
    expect((pids as number[]).some(isAlive)).toBe(false);
    expect(await service.stop()).toBe(0);
    rmSync(folder, { recursive: true });
  });

  test('a port in use, own ports too, and a process that cannot start: a sentence and exit 1, nothing is left', async () => {
    const first = serve(['--processes', '1', '--port', String(await freePort())]);
    const { port } = new URL(await first.base());
    const second = serve(['--processes', '2', '--port', port]);
    expect(await second.exit).toBe(1);
    expect(second.err).toBe(
      `hexcodes: cannot listen on 127.0.0.1:${port} for the service: the port is in use (--port names another)\n`,
    );
    const alone = serve(['--port', port]);
    expect(await alone.exit).toBe(1);
    expect(alone.err).toContain('in use');
    const held = (await freePort(2)) + 1;
    const holder = createServer().listen(held, '127.0.0.1');
    await new Promise((resolve) => holder.once('listening', resolve));
    const third = serve(['--processes', '1', '--own-ports', '--port', String(held - 1)]);
    expect(await third.exit).toBe(1);
    expect(third.err).toContain(`:${held} for the service: the port is in use`);
    holder.close();
    const none = serve(['--processes', '2'], { HEXCODES_DATA_DIR: 'package.json' });
    expect(await none.exit).toBe(1);
    expect(none.err).toBe('hexcodes: the data folder package.json is a file, not a folder\n');
  });

  test('the first process alone makes the first key, and all know it; the admin port speaks for all, and hands on to each', async () => {
    const service = serve(['--processes', '2'], { HEXCODES_API_KEYS: '' });
    const base = await service.base();
    const key = readFileSync(/\$\(cat ([^)]+)\)/.exec(service.err)?.[1] ?? '', 'utf8').trim();
    for (let i = 0; i < 12; i++) {
      const answer = await fetch(`${base}/v1/meta`, { headers: { 'X-API-Key': key, Connection: 'close' } });
      expect(answer.status).toBe(200);
    }
    const admin = await service.adminBase();
    const get = async (path: string, method = 'GET'): Promise<[number, string]> => {
      const answer = await fetch(`${admin}${path}`, { method });
      return [answer.status, await answer.text()];
    };
    expect(await get('/livez')).toEqual([200, 'alive\n']);
    expect(await get('/readyz')).toEqual([200, 'ready\n']);
    expect(await get('/processes/2/readyz')).toEqual([200, 'ready\n']);
    const [absent, text] = await get('/processes/3/readyz');
    expect([absent, JSON.parse(text)]).toMatchObject([
      404,
      { message: 'there is no process 3', request_id: expect.any(String) },
    ]);
    expect((await get('/none'))[0]).toBe(404);
    const [status, metrics] = await get('/metrics');
    expect(status).toBe(200);
    expect(metrics).toContain('\nhexcodes_processes_ready 2\n');
    expect(metrics).toContain('\nhexcodes_process_deaths_total 0\n');
    // One page of both: comments once, all samples of a metric behind its own, each with its process; keys added up.
    const families = metrics.split(/^(?=# HELP )/m).slice(1);
    const nameOf = (family: string): string => family.split(' ')[2]!;
    expect(new Set(families.map(nameOf)).size).toBe(families.length);
    expect(families.length).toBeGreaterThan(20);
    for (const family of families) {
      const samples = family.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
      expect(samples.filter((line) => !line.startsWith(nameOf(family)))).toEqual([]);
    }
    const { metrics: read } = await scrape(Number(new URL(admin).port));
    for (const name of ['hexcodes_http_requests_total', 'hexcodes_http_request_duration_seconds_bucket'])
      expect(new Set(read.get(name)!.map(({ labels }) => labels.process))).toEqual(new Set(['1', '2']));
    expect(sumOf(read, 'hexcodes_http_requests_total', { route: '/v1/meta' })).toBe(12);
    expect(JSON.parse((await get('/activity'))[1]).keys).toMatchObject([{ requests: 12, points: 0 }]);
    // One that cannot say anything is not asked without end.
    const { pids } = await service.line('all processes listen');
    process.kill((pids as number[])[1]!, 'SIGSTOP');
    expect(await get('/readyz')).toEqual([200, 'ready\nwarning: process 2: it does not accept requests\n']);
    process.kill((pids as number[])[1]!, 'SIGCONT');
    expect(await service.stop('SIGINT')).toBe(0);
  });

  test('the key routes of the admin port know the client behind the supervisor, and do not believe what it says of itself', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'hexcodes-admin-'));
    const ofProcess = ['--processes', '1', '--data-dir', dataDir];
    const service = serve(ofProcess);
    const admin = await service.adminBase();
    const { admin_port: ownPort } = await service.line('listening');
    const list = async (cidr: string, address: string, port = admin): Promise<number> => {
      const flags = ['--name', 'n', '--scope', 'admin', '--cidr', cidr, '--data-dir', dataDir, '--show'];
      const command = [process.execPath, 'dist/cli/main.js', 'keys', 'create', ...flags].join(' ');
      const key = execFileSync('sh', ['-c', `${command} 2>&1`], { encoding: 'utf8' });
      const text = /hxk_[\w-]+/.exec(key)?.[0] ?? '';
      for (;;) {
        const answer = await fetch(`${port}/admin/v1/keys`, {
          headers: { 'X-API-Key': text, 'X-Forwarded-For': address, 'X-Hexcodes-Supervisor': 'guessed' },
        });
        // The key is known to the service within a second.
        if (answer.status !== 401) return answer.status;
        await sleep(20);
      }
    };
    expect(await list('127.0.0.0/8', '10.1.1.1')).toBe(200);
    expect(await list('10.0.0.0/8', '10.1.1.1')).toBe(403);
    // Nor does the process believe a program of this machine that calls its own admin port.
    const own = `http://127.0.0.1:${ownPort}`;
    expect(await list('10.0.0.0/8', '10.1.1.1', own)).toBe(403);
    expect(await list('127.0.0.0/8', '10.1.1.1', own)).toBe(200);
    expect(await service.stop()).toBe(0);
    const behind = serve([...ofProcess, '--trusted-proxies', '127.0.0.1']);
    const byProxy = await behind.adminBase();
    expect(await list('10.0.0.0/8', '10.1.1.1', byProxy)).toBe(200);
    // A client that the proxy hides has not the address of the proxy.
    expect(await list('127.0.0.0/8', 'unknown', byProxy)).toBe(403);
    expect(await behind.stop()).toBe(0);
    rmSync(dataDir, { recursive: true });
  });

  test('a killed supervisor ends its processes once their answers are finished', async () => {
    const service = serve(['--processes', '2', '--grace-ms', '1000']);
    const { pids } = await service.line('all processes listen');
    service.child.kill('SIGKILL');
    while ((pids as number[]).some(isAlive)) await sleep(20);
  });

  test('a second signal ends all processes at once', async () => {
    const service = serve(['--processes', '2', '--drain-ms', '60000']);
    const { pids } = await service.line('all processes listen');
    service.child.kill('SIGTERM');
    await service.line('stopping all processes');
    service.child.kill('SIGTERM');
    expect(await service.exit).toBe(1);
    while ((pids as number[]).some(isAlive)) await sleep(20);
  });

  test.skipIf(!hasScript)('a terminal that is closed ends the service (needs script)', async () => {
    // util-linux: a terminal of its own for a command.
    const dataDir = mkdtempSync(join(tmpdir(), 'hexcodes-terminal-'));
    const log = join(dataDir, 'log');
    const command = `exec ${process.execPath} dist/cli/main.js serve --processes 1 --port 0 --admin-port 0 --data-dir ${dataDir} > ${log}`;
    const terminal = spawn('script', ['-qec', command, '/dev/null'], { stdio: ['pipe', 'ignore', 'ignore'] });
    const pidsOf = (): string => {
      try {
        return execFileSync('grep', ['-o', '"pids":\\[[0-9,]*', log], { encoding: 'utf8' });
      } catch {
        return '';
      }
    };
    while (pidsOf() === '') await sleep(20);
    const pids = pidsOf().match(/\d+/g)!.map(Number);
    terminal.kill('SIGKILL');
    while (pids.some(isAlive)) await sleep(20);
    expect(execFileSync('grep', ['-c', '"stopped"', log], { encoding: 'utf8' }).trim()).toBe('1');
    rmSync(dataDir, { recursive: true });
  });
});
