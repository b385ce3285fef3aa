// The interface of a message bus for commands and sinks: set up, check, receive and store; NATS alone collects, serves
// requests and publishes.
// An adapter is a folder beside this file; open-bus.ts chooses one by address.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Durations, type Engine, EngineFault } from './engine.js';
import type { PositionPaths } from './messages/message-shape.js';
import type { SubjectMap } from './subjects.js';

export interface BusSettings {
  readonly natsUrl: readonly string[];
  readonly natsUser: string | undefined;
  readonly natsPassword: string | undefined;
  readonly natsToken: string | undefined;
  /** Contents of files, not their paths. */
  readonly natsNkey: string | undefined;
  readonly natsCreds: string | undefined;
  readonly natsTlsCa: string | undefined;
  readonly natsTlsCert: string | undefined;
  readonly natsTlsKey: string | undefined;
  readonly kafkaUser?: string | undefined;
  readonly kafkaPassword?: string | undefined;
  readonly kafkaSasl?: 'plain' | 'scram-sha-256' | 'scram-sha-512' | undefined;
}

export interface Waiting {
  /** Whether to wait for servers that cannot be reached. */
  readonly isPatient: boolean;
  /** Called with sentences for people. */
  readonly say: (sentence: string) => void;
  readonly signal?: AbortSignal;
}

const RETRY_MS = 1000;

/**
 * Opens a connection, again and again while servers are away and `waiting` is patient.
 * @param lastingFault of an error that waiting does not mend
 * @throws EngineFault
 */
export async function opened<T>(
  open: () => Promise<T>,
  where: string,
  waiting: Waiting,
  causeOf: (error: unknown) => string,
  lastingFault: (error: unknown) => EngineFault | undefined,
): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await open();
    } catch (error) {
      const fault = lastingFault(error);
      if (fault !== undefined) throw fault;
      const words = `${where} cannot be reached: ${causeOf(error)}`;
      if (!waiting.isPatient) throw new EngineFault(words, undefined, { cause: error });
      if (tried === 1) waiting.say(`${words}; waiting`);
    }
    await sleep(RETRY_MS, undefined, { signal: waiting.signal }).catch(() => {
      throw new EngineFault('stopped before there was a connection');
    });
  }
}

export interface StreamNames {
  readonly input: string;
  readonly output: string;
  readonly dead: string;
  readonly consumer: string;
}

/** Which messages are answered, and where answers and dead letters go. */
export interface WorkPlan {
  readonly names: StreamNames;
  readonly maps: readonly SubjectMap[];
  /** Prefix of the subjects of dead letters. */
  readonly deadPrefix: string;
  /** Refuses to run where the order of answers is not guaranteed. */
  readonly isOrdered: boolean;
  /** Most bytes of messages and answers that the worker holds. */
  readonly maxHeldBytes: number;
  /** Messages under way beyond which throughput does not grow. */
  readonly maxMessages: number;
  /** Monitoring port of a server, which reports what a power failure would lose. */
  readonly monitor: URL | undefined;
  /** Name of this worker in its group that stays the same across restarts. */
  readonly instance: string | undefined;
  /** Prefix of the subjects of frames of collected positions. */
  readonly collected: string;
}

/** Fill level of a bounded stream. */
export interface StreamFill {
  readonly name: string;
  readonly messages: number;
  readonly bytes: number;
  readonly maxBytes: number;
}

/** Counts of messages and streams by the servers, at the moment of the call. */
export interface BusLook {
  /** Messages that are delivered to no worker. */
  readonly waiting: number;
  /** Messages that are delivered and not acknowledged. */
  readonly underWay: number;
  readonly streams: readonly StreamFill[];
}

export interface Work {
  /** Start of the first sentence: `works on HEXCODES_IN`. */
  readonly begun: string;
  /** Rejects while the servers cannot be reached. */
  readonly look: () => Promise<BusLook>;
  /**
   * Removes the oldest messages whose answer was stored `afterMs` ago, where their stream is nearly full; to be
   * called every few seconds. undefined where the bus drops messages by itself.
   * @returns the number of messages removed
   */
  readonly giveBack: ((afterMs: number) => Promise<number>) | undefined;
  readonly engine: Engine;
  /** Ways in which this setup can lose messages or answer them twice. */
  readonly warnings: readonly string[];
  /** Silence of a worker after which its message is delivered again. */
  readonly ackWaitMs: number;
}

export type StreamSizes = Readonly<Record<'input' | 'output' | 'dead' | 'positions', number>>;

export interface StreamPlan extends Omit<WorkPlan, 'maxHeldBytes' | 'maxMessages' | 'monitor' | 'instance'> {
  /** Whether workers and collectors may remove acknowledged messages. */
  readonly givesBack?: boolean;
  /** Bytes of each stream, where the bus limits streams by bytes. */
  readonly sizes: StreamSizes;
  /** Age limit of messages. Answers are kept longer, so that no message outlives its answer. */
  readonly maxAgeMs: number;
  readonly replicas: number;
  /** Partitions of each topic, where the bus has them. */
  readonly partitions?: number;
  readonly ackWaitMs: number;
  /** Most messages that are unacknowledged at a time, of all workers together. */
  readonly maxAckPending: number;
  /** Stream and subjects of single positions; undefined where none are collected. */
  readonly positions: { readonly stream: string; readonly subjects: readonly string[] } | undefined;
  /** Name of the service. */
  readonly service: string;
}

export interface SetUp {
  /** A line of text for each stream and consumer. */
  readonly lines: readonly string[];
  /** Permissions of each role, in the syntax of the servers' configuration. */
  readonly permissions: string;
}

export interface CollectorOptions {
  /** Stream of the single positions. */
  readonly positions: string;
  /** Stream of the frames, which is the stream of the workers' messages. */
  readonly stream: string;
  /** Subject of the frames, without its last word. */
  readonly subject: string;
  readonly deadPrefix: string;
  readonly resolution: number;
  /** Paths of positions in messages; undefined: the usual names. */
  readonly paths?: PositionPaths | undefined;
  readonly maxPoints: number;
  /** Longest time that a position waits for others. */
  readonly waitMs: number;
  readonly say: (sentence: string) => void;
}

export interface CollectorFigures {
  frames: number;
  positions: number;
  dead: number;
  /** Time from the first position of a frame to the storage of the frame. */
  readonly times: Durations;
}

export interface Collecting {
  readonly figures: CollectorFigures;
  /**
   * Runs until `stop`.
   * @throws EngineFault where a stream is missing or does not take the frames
   */
  run(): Promise<void>;
  /** Rejects while the servers cannot be reached. */
  look(): Promise<BusLook>;
  /** Removes the oldest positions that are in frames, as `Work.giveBack` does. */
  giveBack(afterMs: number): Promise<number>;
  /** Ends `run`; positions not yet in a frame are left to the next collector. */
  stop(): void;
}

export interface ServiceOptions {
  /** Name of the service and first word of its subjects: `hexcodes.encode`, `hexcodes.decode`. */
  readonly name: string;
  readonly version: string;
  /** Instances with the same queue share the requests. */
  readonly queue: string;
}

export interface Serving {
  /** Resolves when the connection has ended for good. */
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
}

export interface Publisher {
  /**
   * Resolves when a stream has stored all messages. Where it rejects, some may be stored; the server drops repeated
   * ids within the duplicate window of the stream.
   */
  publish(messages: readonly { readonly id: string; readonly bytes: Uint8Array }[]): Promise<void>;
  /** Whether the connection has ended for good: this publisher never publishes again. */
  isClosed(): boolean;
  close(): Promise<void>;
}

/** Every method throws an EngineFault where the bus cannot be used for its purpose. */
export interface Bus {
  /** The server and its version: `127.0.0.1:4222, nats-server 2.9.10`. */
  readonly name: string;
  /** Creates or updates streams and consumers; no message is touched. */
  setUp(plan: StreamPlan): Promise<SetUp>;
  /** Checks that answers can be neither lost nor stored twice, and opens the receiving and storing side. */
  work(plan: WorkPlan): Promise<Work>;
  /** Flushes queued messages and ends the connection. */
  close(): Promise<void>;
}

// Answers of other servers over HTTP, which may be of any size: a few bytes that are packed can be gigabytes.

export class AnswerTooLong extends Error {}

/**
 * The text of an answer. The caller's signal bounds its time.
 * @throws AnswerTooLong for one that unpacks to more bytes
 */
export async function textWithin({ body }: Response, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let sizeBytes = 0;
  let text = '';
  for await (const bytes of body ?? []) {
    sizeBytes += bytes.length;
    if (sizeBytes > maxBytes) throw new AnswerTooLong(`its answer has more than ${maxBytes} bytes`);
    text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
}
