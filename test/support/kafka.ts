// A real broker of Apache Kafka of the test's own, in KRaft mode, in a temporary folder, on loopback. Its jars are
// those that .ci/packages brings from Maven Central; kcat, of Debian's package, reads the answers, independent of our
// client. Where one of them is missing, tests that need them are skipped by their names.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SHORT_JVM } from './java.js';
import { freePort } from './network.js';

const JARS =
  process.env.HEXCODES_KAFKA_JARS ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'hexcodes/kafka-4.1.1');

/** Why tests with a broker are skipped; undefined where they run. */
export const noKafka: string | undefined = !existsSync(join(JARS, 'kafka_2.13-4.1.1.jar'))
  ? 'the broker of Kafka is not installed'
  : spawnSync('java', ['-version']).status !== 0
    ? 'java is not installed'
    : spawnSync('kcat', ['-V']).status !== 0
      ? 'kcat is not installed'
      : undefined;

/** Words for the names of tests that may be skipped. */
export const kafkaNote = noKafka === undefined ? '' : ` (${noKafka})`;

const READY_MS = 90_000;
const JAVA = ['-Xmx512m', ...SHORT_JVM, '-cp', join(JARS, '*')];

/** A message as kcat reads it. */
export interface KafkaMessage {
  readonly partition: number;
  readonly offset: number;
  readonly key: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly value: Buffer;
}

export interface BrokerOptions {
  /** Protocol of the listener of clients: `PLAINTEXT`, `SSL`, `SASL_PLAINTEXT` or `SASL_SSL`. */
  readonly protocol?: string;
  /** Further lines of its configuration. */
  readonly lines?: (folder: string) => readonly string[];
  /** Users of SCRAM, as its program that formats a store takes them. */
  readonly scram?: readonly string[];
}

export class KafkaBroker {
  readonly folder = mkdtempSync(join(tmpdir(), 'hexcodes-kafka-'));
  #child: ChildProcess | undefined;
  #log = '';

  private constructor(
    readonly port: number,
    readonly controllerPort: number,
    /** Port without credentials, of kcat. */
    readonly plainPort: number,
    /** Port behind a link, which clients are told to go through. */
    readonly behindPort: number,
    readonly linkPort: number,
  ) {}

  static async start({
    protocol = 'PLAINTEXT',
    lines = () => [],
    scram = [],
  }: BrokerOptions = {}): Promise<KafkaBroker> {
    const ports = [await freePort(), await freePort(), await freePort(), await freePort()] as const;
    const broker = new KafkaBroker(...ports, await freePort());
    const { folder, port, controllerPort, plainPort, behindPort, linkPort } = broker;
    const listeners = (ofLink: number): string =>
      `CLIENTS://127.0.0.1:${port},PLAIN://127.0.0.1:${plainPort},LINK://127.0.0.1:${ofLink}`;
    const config = [
      ...['process.roles=broker,controller', 'node.id=1', `log.dirs=${folder}/logs`],
      `controller.quorum.voters=1@127.0.0.1:${controllerPort}`,
      `listeners=${listeners(behindPort)},CONTROLLER://127.0.0.1:${controllerPort}`,
      `advertised.listeners=${listeners(linkPort)}`,
      'controller.listener.names=CONTROLLER',
      'inter.broker.listener.name=PLAIN',
      `listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAIN:PLAINTEXT,LINK:PLAINTEXT,CLIENTS:${protocol}`,
      ...['offsets.topic.replication.factor=1', 'offsets.topic.num.partitions=3'],
      ...['transaction.state.log.replication.factor=1', 'transaction.state.log.min.isr=1'],
      ...['transaction.state.log.num.partitions=3', 'group.initial.rebalance.delay.ms=0'],
      ...[
        'transaction.abort.timed.out.transaction.cleanup.interval.ms=1000',
        'auto.create.topics.enable=false',
      ],
      ...lines(folder),
    ];
    writeFileSync(join(folder, 'server.properties'), `${config.join('\n')}\n`);
    const id = Buffer.from(`${port}`.padEnd(16, 'x')).toString('base64url');
    const format = ['kafka.tools.StorageTool', 'format', '-t', id, '-c', join(folder, 'server.properties')];
    for (const user of scram) format.push('--add-scram', user);
    const formatted = spawnSync('java', [...JAVA, ...format], { encoding: 'utf8' });
    if (formatted.status !== 0) throw new Error(formatted.stderr);
    await broker.resume();
    return broker;
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  /** Address with the credentials of its options. */
  get url(): string {
    return `kafka://127.0.0.1:${this.port}`;
  }

  get plainUrl(): string {
    return `kafka://${this.plain}`;
  }

  /** Starts it again after `kill`. */
  async resume(): Promise<void> {
    const child = spawn('java', [...JAVA, 'kafka.Kafka', join(this.folder, 'server.properties')], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text: Buffer) => {
        this.#log = (this.#log + text.toString()).slice(-20_000);
      });
    for (const deadline = performance.now() + READY_MS; ; await sleep(200)) {
      if (child.exitCode !== null) throw new Error(`the broker ended: ${this.#log}`);
      if (spawnSync('kcat', ['-b', this.plain, '-L', '-m', '2']).status === 0) return;
      if (performance.now() > deadline) throw new Error(`the broker is not ready: ${this.#log}`);
    }
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, 'close');
    child.kill(signal);
    await closed;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true });
  }

  /** Address without credentials. */
  get plain(): string {
    return `127.0.0.1:${this.plainPort}`;
  }

  /** Messages of a topic whose transactions are committed, as kcat reads them. */
  messagesOf(topic: string): KafkaMessage[] {
    const format = '%p %o %K %S %h\\n%k%s';
    const { stdout, stderr, status } = spawnSync(
      'kcat',
      [
        ...['-b', this.plain, '-C', '-t', topic, '-e', '-q', '-f', format],
        ...['-X', 'isolation.level=read_committed', '-X', 'auto.offset.reset=earliest'],
      ],
      { maxBuffer: 2 ** 30 },
    );
    if (status !== 0) throw new Error(stderr.toString());
    return [...readMessages(stdout)];
  }

  /** Stores a file as one message. */
  produceFile(topic: string, key: string, file: string): void {
    const { status, stderr } = spawnSync('kcat', ['-b', this.plain, '-P', '-t', topic, '-k', key, file]);
    if (status !== 0) throw new Error(stderr.toString());
  }

  /** Stores messages by Java's producer. */
  producePacked(topic: string, codec: string, messages: number): void {
    const program = resolve('test/support/engine/Packed.java');
    const words = [this.plain, topic, codec, String(messages)];
    const { status, stderr } = spawnSync('java', [...JAVA, program, ...words], { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
  }

  /** Stores messages with the same headers by kcat: `key TAB value` lines. @param options of kcat */
  produce(
    topic: string,
    lines: readonly string[],
    headers: Readonly<Record<string, string>> = {},
    options: readonly string[] = [],
  ): void {
    const named = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}=${value}`]);
    const { status, stderr } = spawnSync(
      'kcat',
      ['-b', this.plain, '-P', '-t', topic, '-K', '\t', '-X', 'acks=all', ...named, ...options],
      { input: `${lines.join('\n')}\n` },
    );
    if (status !== 0) throw new Error(stderr.toString());
  }
}

/** A line of numbers and headers, and then key and value, whose lengths it has. */
function* readMessages(bytes: Buffer): Generator<KafkaMessage> {
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(10, at);
    const [, partition, offset, keyBytes, valueBytes, text] =
      /^(\d+) (\d+) (-?\d+) (-?\d+) (.*)$/.exec(bytes.toString('utf8', at, end)) ?? [];
    const [keyAt, valueAt] = [end + 1, end + 1 + Math.max(0, Number(keyBytes))];
    at = valueAt + Math.max(0, Number(valueBytes));
    yield {
      partition: Number(partition),
      offset: Number(offset),
      key: bytes.toString('utf8', keyAt, valueAt),
      headers: new Map(text!.split(',').map((each) => each.split('=') as [string, string])),
      value: bytes.subarray(valueAt, at),
    };
  }
}
