// A real PostgreSQL of the test's own, in a temporary folder, on loopback, with a password. The programs are those of
// Debian's package; where they are not installed, tests that need them are skipped. Root runs it as nobody.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './network.js';

const ROOT = '/usr/lib/postgresql';
const USER = 'hexcodes';
export const POSTGRES_PASSWORD = 'a password: of/the@test';

const binaries = existsSync(ROOT)
  ? readdirSync(ROOT)
      .map((version) => join(ROOT, version, 'bin'))
      .filter((folder) => existsSync(join(folder, 'initdb')))
  : [];

const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;
const hasSetpriv = spawnSync('setpriv', ['--version']).status === 0;

/** Why tests with a database are skipped; undefined where they run. */
export const noPostgres: string | undefined =
  binaries.length === 0 ? 'PostgreSQL is not installed' : isRoot && !hasSetpriv ? 'no setpriv' : undefined;

/** A program of PostgreSQL, which refuses to run as root. */
function command(program: string, args: readonly string[]): [string, string[]] {
  const path = join(binaries.at(-1) as string, program);
  return isRoot
    ? ['setpriv', [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', path, ...args]]
    : [path, [...args]];
}

export class Postgres {
  #child: ChildProcess | undefined;
  #databases = 0;

  private constructor(
    private readonly folder: string,
    readonly port: number,
  ) {}

  static async start(): Promise<Postgres> {
    const folder = mkdtempSync(join(tmpdir(), 'hexcodes-postgres-'));
    const passwordFile = join(folder, 'password');
    writeFileSync(passwordFile, POSTGRES_PASSWORD);
    if (isRoot) for (const path of [folder, passwordFile]) chownSync(path, NOBODY, NOBODY);
    const options = ['-U', USER, '-A', 'scram-sha-256', '--no-sync', '--no-locale', '-E', 'UTF8'];
    const made = spawnSync(
      ...command('initdb', ['-D', join(folder, 'data'), `--pwfile=${passwordFile}`, ...options]),
      { encoding: 'utf8', cwd: folder },
    );
    if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
    const postgres = new Postgres(folder, await freePort());
    await postgres.resume();
    return postgres;
  }

  /** Starts it again after `halt`. */
  async resume(): Promise<void> {
    const settings = ['fsync=off', 'shared_buffers=16MB', 'max_connections=30', 'listen_addresses=127.0.0.1'];
    const child = spawn(
      ...command('postgres', [
        ...['-D', join(this.folder, 'data'), '-p', String(this.port), '-k', this.folder],
        ...settings.flatMap((setting) => ['-c', setting]),
      ]),
      { stdio: ['ignore', 'ignore', 'pipe'], cwd: this.folder },
    );
    this.#child = child;
    let log = '';
    child.stderr.setEncoding('utf8');
    await new Promise<void>((resolve, reject) => {
      child.stderr.on('data', (text: string) => {
        log += text;
        if (log.includes('ready to accept connections')) resolve();
      });
      child.once('exit', () => reject(new Error(`postgres ended: ${log}`)));
    });
  }

  /** Ends it: as an administrator does, or as a power cut does. */
  async halt(how: 'SIGINT' | 'SIGQUIT' = 'SIGINT'): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined) return;
    const exited = once(child, 'exit');
    child.kill(how);
    await exited;
  }

  /** Stops its processes from running at all, so that it neither answers nor closes a connection. */
  freeze(isFrozen: boolean): void {
    const pid = this.#child?.pid as number;
    const signal = isFrozen ? '-STOP' : '-CONT';
    spawnSync('pkill', [signal, '-P', String(pid)]);
    spawnSync('kill', [signal, String(pid)]);
  }

  /** From now on it takes connections by TLS only. @returns the file with its certificate */
  async requireTls(): Promise<string> {
    const file = (name: string): string => join(this.folder, 'data', name);
    const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'];
    const key = ['-newkey', 'rsa:2048', '-nodes', '-keyout', file('server.key'), '-out', file('server.crt')];
    const made = spawnSync('openssl', ['req', '-x509', '-days', '2', ...key, ...names], { encoding: 'utf8' });
    if (made.status !== 0) throw new Error(made.stderr);
    if (isRoot) for (const name of ['server.key', 'server.crt']) chownSync(file(name), NOBODY, NOBODY);
    chmodSync(file('server.key'), 0o600);
    writeFileSync(file('pg_hba.conf'), 'hostssl all all 127.0.0.1/32 scram-sha-256\n');
    await this.halt();
    appendFileSync(file('postgresql.conf'), 'ssl = on\n');
    await this.resume();
    return file('server.crt');
  }

  url(database = 'postgres', parameters = ''): string {
    const password = encodeURIComponent(POSTGRES_PASSWORD);
    return `postgres://${USER}:${password}@127.0.0.1:${this.port}/${database}${parameters}`;
  }

  /** The address of a new database. */
  newDatabase(): string {
    const name = `test${++this.#databases}`;
    this.sql(`CREATE DATABASE ${name}`);
    return this.url(name);
  }

  /** Runs statements by psql; returns what it prints. */
  sql(text: string, url = this.url()): string {
    const done = spawnSync(
      join(binaries.at(-1) as string, 'psql'),
      ['-XAtq', '-v', 'ON_ERROR_STOP=1', '-c', text, url],
      {
        encoding: 'utf8',
      },
    );
    if (done.status !== 0) throw new Error(done.stderr);
    return done.stdout;
  }

  async remove(): Promise<void> {
    await this.halt('SIGQUIT');
    rmSync(this.folder, { recursive: true, force: true });
  }
}
