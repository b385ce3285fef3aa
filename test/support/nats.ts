// A real nats-server of the test's own, in a temporary folder, on loopback. The program is that of Debian's package;
// where it is not installed, tests that need it are skipped by their names.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node';
import { freePort } from './network.js';

const PROGRAM = ['/usr/sbin/nats-server', '/usr/bin/nats-server'].find((path) => existsSync(path));

/** Why tests with a server are skipped; undefined where they run. */
export const noNats: string | undefined =
  PROGRAM === undefined || spawnSync(PROGRAM, ['--version']).status !== 0
    ? 'nats-server is not installed'
    : undefined;

/** Words for the names of tests that may be skipped. */
export const natsNote = noNats === undefined ? '' : ` (${noNats})`;

const READY_MS = 20_000;

export class NatsServer {
  readonly folder = mkdtempSync(join(tmpdir(), 'hexcodes-nats-'));
  #child: ChildProcess | undefined;
  readonly #connections: NatsConnection[] = [];

  private constructor(
    readonly port: number,
    readonly mqttPort: number,
    readonly monitorPort: number,
  ) {}

  /** @param lines of its configuration, in place of those that switch JetStream on */
  static async start(lines?: (folder: string, mqttPort: number) => readonly string[]): Promise<NatsServer> {
    const server = new NatsServer(await freePort(), await freePort(), await freePort());
    const { folder, port, mqttPort, monitorPort } = server;
    const own = lines?.(folder, mqttPort) ?? [
      `jetstream { store_dir: "${folder}", max_file: 4G, max_mem: 64M }`,
      `mqtt { host: 127.0.0.1, port: ${mqttPort} }`,
    ];
    const config = [
      'server_name: test',
      'host: 127.0.0.1',
      `port: ${port}`,
      `http: 127.0.0.1:${monitorPort}`,
      ...own,
    ];
    writeFileSync(server.file('nats.conf'), `${config.join('\n')}\n`);
    await server.resume();
    return server;
  }

  file(name: string): string {
    return join(this.folder, name);
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  /** Starts it again after `kill`. */
  async resume(): Promise<void> {
    const child = spawn(PROGRAM!, ['-c', this.file('nats.conf')], { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child = child;
    let log = '';
    child.stderr.setEncoding('utf8');
    child.stderr.on('data', (text: string) => {
      log = (log + text).slice(-20_000);
    });
    for (const deadline = performance.now() + READY_MS; ; await sleep(20)) {
      if (child.exitCode !== null) throw new Error(`nats-server ended: ${log}`);
      if (log.includes('Server is ready') && (await answers(this.port))) return;
      if (performance.now() > deadline) throw new Error(`nats-server is not ready: ${log}`);
    }
  }

  /** Ends it as a crash does. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  /** A connection of the test's own, which goes away with the server. */
  async connect(options: NodeConnectionOptions = {}): Promise<NatsConnection> {
    const nc = await connect({
      servers: this.url,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 200,
      ...options,
    });
    this.#connections.push(nc);
    return nc;
  }

  async remove(): Promise<void> {
    await Promise.all(this.#connections.map((nc) => nc.close()));
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export interface StoredMessage {
  readonly subject: string;
  readonly seq: number;
  readonly bytes: Uint8Array;
  readonly headers: ReadonlyMap<string, string>;
}

/** Every message of a stream, in its order. */
export async function messagesOf(nc: NatsConnection, stream: string): Promise<StoredMessage[]> {
  const jsm: JetStreamManager = await jetstreamManager(nc);
  const { messages: count } = (await jsm.streams.info(stream)).state;
  const found: StoredMessage[] = [];
  if (count === 0) return found;
  const consumer = await jetstream(nc).consumers.get(stream);
  for await (const message of await consumer.consume({ max_messages: 500 })) {
    const { headers } = message;
    found.push({
      subject: message.subject,
      seq: message.seq,
      bytes: message.data.slice(),
      headers: new Map(headers?.keys().map((name) => [name, headers.get(name)]) ?? []),
    });
    if (message.info.pending === 0) break;
  }
  return found;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
