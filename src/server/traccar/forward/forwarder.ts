// Accepts lines to be forwarded, stores them on disk and has them delivered. A line is accepted when the system has
// it on disk; lines that arrive during a write share the next one, and no caller waits for the sink.
import { basename, join, parse } from 'node:path';
import type { ServeConfig } from '../../../config/config.js';
import { contentOf, Fault } from '../../../config/setting.js';
import { type SinkAddress, TRACCAR } from '../../../config/sink.js';
import { AnsweredError, type ErrorAnswer, mayTake } from '../../transport/limits.js';
import { Backlog, begunMsOf, LeftFolders, leave, nameOwn, release, TOUCH_MS, touch } from './backlog.js';
import { Delivery, type DeliveryLog, within } from './delivery.js';
import { FileSink, HttpSink, NatsSink, type Sink } from './sinks/sink.js';

export interface ForwarderOptions {
  readonly sink: Sink;
  /** Folder of the backlogs of all processes. */
  readonly folder: string;
  /** Largest size of all backlogs that this process has, on disk. */
  readonly maxBytes: number;
  readonly batchMs: number;
  readonly log: DeliveryLog;
  /** How often folders are touched and looked for; only tests change it. */
  readonly touchMs?: number;
}

/** The answer to a line that the disk does not take; the forwarder has it logged. */
const NOT_TAKEN: ErrorAnswer = { status: 503, retryAfterSec: 10, close: false };

interface WaitingLine {
  readonly bytes: Buffer;
  readonly keyId: string;
  readonly taken: () => void;
  readonly failed: (error: Error) => void;
}

const MIB = 1024 * 1024;
/** In memory, on their way to the disk. */
const MAX_UNWRITTEN_BYTES = 4 * MIB;
const END_MS = 2000;
const CLOSE_SINK_MS = 500;

export class Forwarder {
  /** Left by processes that are gone, and taken over; oldest first. */
  readonly #older: Backlog[] = [];
  readonly #left: LeftFolders;
  /** Why some of them could not be taken over at the last look. */
  #leftFault: string | undefined;
  /**
   * Resolves when each folder found at the start is known to be live or abandoned; lines of abandoned ones are
   * delivered first.
   */
  readonly #judged: Promise<boolean>;
  #judge!: (areAll: boolean) => void;
  readonly #delivery: Delivery;
  readonly #timer: NodeJS.Timeout;
  #waiting: WaitingLine[] = [];
  #unwrittenBytes = 0;
  #writing: Promise<void> | undefined;
  #looking: Promise<void> | undefined;
  /** Lines refused since the last accepted one, and since the start. */
  #refused = 0;
  #refusedInAll = 0;

  private constructor(
    private readonly options: ForwarderOptions,
    private own: Backlog,
  ) {
    this.#left = new LeftFolders(options.folder);
    this.#judged = new Promise((resolve) => {
      this.#judge = resolve;
    });
    this.#delivery = new Delivery({
      sink: options.sink,
      batchMs: options.batchMs,
      source: () => this.#source(),
      waitingRows: () => this.waitingRows,
      log: options.log,
    });
    this.#timer = setInterval(() => {
      for (const { folder } of [this.own, ...this.#older]) touch(folder);
      this.#lookForLeft();
    }, options.touchMs ?? TOUCH_MS).unref();
  }

  /** Resolves when lines are taken, and those that earlier processes left are found. */
  static async open(options: ForwarderOptions): Promise<Forwarder> {
    const forwarder = new Forwarder(options, await openOwn(options));
    forwarder.#lookForLeft();
    await forwarder.#looking;
    return forwarder;
  }

  /** Lines that are taken and not delivered. */
  get waitingRows(): number {
    return [this.own, ...this.#older].reduce((sum, { rows }) => sum + rows, 0);
  }

  /** A sentence for people while lines cannot be delivered. */
  get fault(): string | undefined {
    const reason = this.#delivery.fault;
    if (reason === undefined) return undefined;
    return `${this.options.sink.name} takes no positions (${reason}): ${this.waitingRows} wait on disk`;
  }

  /** Counts of lines; `isAway` while the sink takes none. */
  get figures(): { waiting: number; delivered: number; refused: number; isAway: boolean } {
    const { deliveredRows, fault } = this.#delivery;
    const isAway = fault !== undefined;
    return { waiting: this.waitingRows, delivered: deliveredRows, refused: this.#refusedInAll, isAway };
  }

  /**
   * Whether a line of this size can be accepted: not if the waiting lines, of all or of the key, have reached their
   * limit.
   */
  hasSpace(lineBytes: number, keyId = ''): boolean {
    const { maxBytes } = this.options;
    const backlogs = [this.own, ...this.#older];
    const allBytes = backlogs.reduce((sum, { sizeBytes }) => sum + sizeBytes, this.#unwrittenBytes);
    const ofKey = backlogs.reduce((sum, backlog) => sum + backlog.bytesOf(keyId), 0);
    const isWritable = this.#unwrittenBytes + lineBytes <= MAX_UNWRITTEN_BYTES;
    if (isWritable && mayTake(ofKey, allBytes, lineBytes, maxBytes)) return true;
    this.#refuse(`as many wait as may, ${maxBytes} bytes, or the share of a key in them`, 1);
    return false;
  }

  /**
   * Resolves when the line is on disk.
   * @param line with its line end
   * @throws AnsweredError, as a rejection, where the disk takes nothing
   */
  take(line: string, keyId = ''): Promise<void> {
    const bytes = Buffer.from(line);
    this.#unwrittenBytes += bytes.length;
    return new Promise((taken, failed) => {
      this.#waiting.push({ bytes, keyId, taken, failed });
      this.#writing ??= this.#write();
    });
  }

  /** Delivers what can be delivered in two seconds; the rest waits on disk for the next process. Never rejects. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing;
    const ended = this.#delivery.end(END_MS);
    this.#judge(false);
    await ended;
    await this.#looking;
    const { waitingRows } = this;
    const { sink, log } = this.options;
    const failed = (error: Error): void =>
      log.error({ reason: error.message }, 'positions or their sink cannot be closed');
    await within(CLOSE_SINK_MS, Promise.resolve(sink.close?.())).catch(failed);
    for (const backlog of [this.own, ...this.#older]) await this.#leave(backlog).catch(failed);
    if (waitingRows > 0) log.warn({ waiting: waitingRows }, 'positions wait on disk for the next start');
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const lines = this.#waiting;
      this.#waiting = [];
      const bytes = Buffer.concat(lines.map((line) => line.bytes));
      let fault: Error | undefined;
      try {
        const keyBytes = new Map<string, number>();
        for (const line of lines)
          keyBytes.set(line.keyId, (keyBytes.get(line.keyId) ?? 0) + line.bytes.length);
        await this.#append(bytes, lines.length, keyBytes);
      } catch (error) {
        const message = 'the disk of the service takes no positions';
        fault = new AnsweredError(message, NOT_TAKEN, { cause: error });
        this.#refuse((error as Error).message, lines.length);
      }
      this.#unwrittenBytes -= bytes.length;
      for (const { taken, failed } of lines) {
        if (fault === undefined) taken();
        else failed(fault);
      }
      if (fault === undefined) this.#took();
    }
    this.#writing = undefined;
  }

  async #append(lines: Buffer, rows: number, keyBytes: ReadonlyMap<string, number>): Promise<void> {
    try {
      await this.own.append(lines, rows, keyBytes);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      await this.#beginAnew();
      await this.own.append(lines, rows, keyBytes);
    }
  }

  /**
   * The folder, or a file in it, is gone: most likely another process that could not see this one has taken it over.
   */
  async #beginAnew(): Promise<void> {
    const before = this.own;
    this.own = await openOwn(this.options);
    if (await before.isThere()) {
      this.#addOlder(before);
      return;
    }
    release(basename(before.folder));
    const message =
      'the folder of positions that wait is gone: another process has it, and some may come twice';
    this.options.log.warn({ waiting: before.rows }, message);
  }

  /** Said once, until a line is taken again. */
  #refuse(reason: string, lines: number): void {
    if (this.#refused === 0)
      this.options.log.error({ reason, waiting: this.waitingRows }, 'positions are refused');
    this.#refused += lines;
    this.#refusedInAll += lines;
  }

  #took(): void {
    if (this.#refused > 0) this.options.log.info({ refused: this.#refused }, 'positions are taken again');
    this.#refused = 0;
    this.#delivery.notice();
  }

  /** The backlog that is to be delivered next: the oldest with rows. */
  async #source(): Promise<Backlog | undefined> {
    if (!(await this.#judged)) return undefined;
    for (let oldest = this.#older[0]; oldest !== undefined; oldest = this.#older[0]) {
      if (oldest.rows > 0) return oldest;
      this.#older.shift();
      await this.#leave(oldest);
    }
    return this.own.rows > 0 ? this.own : undefined;
  }

  #lookForLeft(): void {
    this.#looking ??= this.#openLeft().finally(() => {
      this.#looking = undefined;
    });
  }

  /**
   * Opens the backlogs that others have left; one that cannot be opened is tried again at the next look. Never rejects.
   */
  async #openLeft(): Promise<void> {
    const { folder, log } = this.options;
    const faults: Error[] = [];
    for (const name of this.#namesLeft(faults)) {
      const path = join(folder, name);
      try {
        const backlog = await Backlog.open(path, segmentBytesOf(this.options));
        if (backlog.doubtful !== undefined)
          log.warn(
            { path: backlog.doubtful },
            'a cursor of positions is not as it was written: some may come twice',
          );
        if (backlog.rows > 0) log.info({ waiting: backlog.rows }, 'positions that were left are delivered');
        this.#addOlder(backlog);
        this.#delivery.notice();
      } catch (error) {
        leave(path);
        faults.push(error as Error);
      }
    }
    const fault = faults[0]?.message;
    if (fault !== undefined && this.#leftFault === undefined)
      log.error({ reason: fault }, 'positions that were left cannot be read');
    this.#leftFault = fault;
    if (fault !== undefined || !this.#left.hasUnjudged) this.#judge(true);
  }

  #namesLeft(faults: Error[]): string[] {
    try {
      return this.#left.takeOver();
    } catch (error) {
      faults.push(error as Error);
      return [];
    }
  }

  #addOlder(backlog: Backlog): void {
    const begunMs = ({ folder }: Backlog): number => begunMsOf(basename(folder));
    this.#older.push(backlog);
    this.#older.sort((a, b) => begunMs(a) - begunMs(b));
  }

  async #leave(backlog: Backlog): Promise<void> {
    try {
      await backlog.close();
    } finally {
      leave(backlog.folder);
    }
  }
}

function openOwn(options: ForwarderOptions): Promise<Backlog> {
  return Backlog.open(join(options.folder, nameOwn()), segmentBytesOf(options));
}

/** So that a quarter of the space is free again when a segment is delivered. */
function segmentBytesOf({ maxBytes }: ForwarderOptions): number {
  return Math.min(4 * MIB, Math.floor(maxBytes / 4));
}

// Opens the forwarder of a service, to the sink of its settings.

/**
 * Rejects with a message for people.
 * @param processNumber of several processes, from 1: each has a file of its own
 * @returns undefined where positions go nowhere
 */
export async function openForwarder(
  config: ServeConfig,
  log: DeliveryLog,
  processNumber?: number,
): Promise<Forwarder | undefined> {
  const { traccarSink, traccarBatchMs, traccarBacklogBytes, dataDir } = config;
  if (traccarSink === undefined) return undefined;
  return Forwarder.open({
    sink: await sinkOf(traccarSink, config, processNumber),
    folder: join(dataDir, 'traccar'),
    maxBytes: traccarBacklogBytes,
    batchMs: traccarBatchMs,
    log,
  });
}

async function sinkOf(
  address: SinkAddress,
  config: ServeConfig,
  processNumber: number | undefined,
): Promise<Sink> {
  switch (address.kind) {
    case 'http':
      return new HttpSink(address.url, config.traccarSinkHeader);
    case 'file': {
      const { dir, name, ext } = parse(address.path);
      const path = processNumber === undefined ? address.path : join(dir, `${name}.${processNumber}${ext}`);
      return new FileSink({ path, format: address.format, fullBytes: config.traccarFileBytes });
    }
    case 'postgres': {
      const { PostgresSink } = await import('./sinks/postgres-sink.js');
      return new PostgresSink(address, config.traccarPostgresPassword);
    }
    case 'nats': {
      const settings = natsSettingsOf(address.server, config);
      return new NatsSink(`${address.server}/${address.subject}`, async () => {
        const { BUSES } = await import('../../../bus/open-bus.js');
        const bus = await BUSES.NATS.open(settings, { isPatient: false, say: () => {} });
        return bus.publisher(address.subject);
      });
    }
  }
}

/** @throws Error that names a file that cannot be read */
function natsSettingsOf(server: string, config: ServeConfig) {
  return {
    natsUrl: [server],
    natsUser: config.traccarNatsUser,
    natsPassword: config.traccarNatsPassword,
    natsToken: config.traccarNatsToken,
    natsNkey: contentOfFile(config, 'traccarNatsNkeyFile'),
    natsCreds: contentOfFile(config, 'traccarNatsCredsFile'),
    natsTlsCa: contentOfFile(config, 'traccarNatsTlsCaFile'),
    natsTlsCert: contentOfFile(config, 'traccarNatsTlsCertFile'),
    natsTlsKey: contentOfFile(config, 'traccarNatsTlsKeyFile'),
  };
}

/** Refuses the files of a sink that a start would refuse. */
export function examineSink(config: ServeConfig): void {
  const { traccarSink } = config;
  if (traccarSink?.kind === 'nats') natsSettingsOf(traccarSink.server, config);
}

type FileName = Extract<keyof typeof TRACCAR, `${string}File`>;

/** Content of the file that a setting names. */
function contentOfFile(config: ServeConfig, name: FileName): string | undefined {
  try {
    return contentOf(config[name]);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw new Error(`${TRACCAR[name].variable} ${error.message}`);
  }
}
