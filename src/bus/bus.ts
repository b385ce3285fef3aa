// A message bus as commands and sinks see it: what they set up, check, receive, store, collect, serve and publish. An
// adapter is a folder beside this file; open-bus.ts chooses one by address.

import type { Durations, Engine } from './engine.js';
import type { PositionPaths, RequestAnswerer } from './messages/message-shape.js';
import type { SubjectMap } from './subjects.js';

export interface BusSettings {
  readonly natsUrl: readonly string[];
  readonly natsUser: string | undefined;
  readonly natsPassword: string | undefined;
  readonly natsToken: string | undefined;
  /** Contents of files. */
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
  /** Whether to wait for servers that are away. */
  readonly isPatient: boolean;
  /** Called with sentences for people. */
  readonly say: (sentence: string) => void;
  readonly signal?: AbortSignal;
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
  /** Before the subjects of dead letters. */
  readonly deadPrefix: string;
  /** Refuses to work where answers would be in no order. */
  readonly isOrdered: boolean;
  /** Bytes of messages and answers that the worker holds at most. */
  readonly maxHeldBytes: number;
  /** More messages under way than this are no faster. */
  readonly maxMessages: number;
  /** Monitoring port of a server, which says what a power cut would lose. */
  readonly monitor: URL | undefined;
  /** Name of this worker in its group that stays the same when it starts again. */
  readonly instance: string | undefined;
  /** Before the subjects of frames of collected positions. */
  readonly collected: string;
}

/** A stream with a bound, as it is filled. */
export interface StreamFill {
  readonly name: string;
  readonly messages: number;
  readonly bytes: number;
  readonly maxBytes: number;
}

/** Messages and streams as the servers count them at the moment of the call. */
export interface BusLook {
  /** Messages that were handed out to nobody. */
  readonly waiting: number;
  /** Messages that are with a worker. */
  readonly underWay: number;
  readonly streams: readonly StreamFill[];
}

export interface Work {
  /** Names what is worked on: `HEXCODES_IN`. */
  readonly source: string;
  /** Rejects while the servers are away. */
  readonly look: () => Promise<BusLook>;
  /**
   * Removes the oldest messages whose answer was stored `afterMs` ago, where their stream is nearly full; call it every
   * few seconds. undefined where the bus drops messages by itself. @returns how many
   */
  readonly giveBack: ((afterMs: number) => Promise<number>) | undefined;
  readonly engine: Engine;
  /** Ways to lose messages, or to answer them twice. */
  readonly warnings: readonly string[];
  /** Silence of a worker after which its message is delivered again. */
  readonly ackWaitMs: number;
}

export type StreamSizes = Readonly<Record<'input' | 'output' | 'dead' | 'positions', number>>;

export interface StreamPlan extends Omit<WorkPlan, 'maxHeldBytes' | 'maxMessages' | 'monitor' | 'instance'> {
  /** Whether workers and collectors may remove messages that are done with. */
  readonly givesBack?: boolean;
  /** Bytes of each stream, where the bus bounds streams by bytes. */
  readonly sizes: StreamSizes;
  /** Age limit of messages and answers; answers are kept for longer, so that no message outlives its answer. */
  readonly maxAgeMs: number;
  readonly replicas: number;
  /** Partitions of each topic, where the bus has them. */
  readonly partitions?: number;
  readonly ackWaitMs: number;
  /** Messages that all workers together may be working on. */
  readonly maxAckPending: number;
  /** Stream and subjects of single positions; undefined where none are collected. */
  readonly positions: { readonly stream: string; readonly subjects: readonly string[] } | undefined;
  /** Name of the service. */
  readonly service: string;
}

export interface SetUp {
  /** A line for each stream and consumer. */
  readonly lines: readonly string[];
  /** Rights of each role, in the words of the servers' configuration. */
  readonly permissions: string;
}

export interface CollectorOptions {
  /** Stream of the single positions. */
  readonly positions: string;
  /** Stream of the frames, which is that of the workers' messages. */
  readonly stream: string;
  /** Subject of the frames, without its last word. */
  readonly subject: string;
  readonly deadPrefix: string;
  readonly resolution: number;
  /** Where messages hold their positions; undefined: under the usual names. */
  readonly paths?: PositionPaths | undefined;
  readonly maxPoints: number;
  /** A position waits no longer than this for others. */
  readonly waitMs: number;
  readonly say: (sentence: string) => void;
}

export interface CollectorFigures {
  frames: number;
  positions: number;
  dead: number;
  /** From the first position of a frame that was waited for to its storage. */
  readonly times: Durations;
}

export interface Collecting {
  readonly figures: CollectorFigures;
  /** @throws EngineFault where a stream is missing or does not take the frames */
  run(): Promise<void>;
  /** Rejects while the servers are away. */
  look(): Promise<BusLook>;
  /** As of `Work`: the oldest positions that are in frames. */
  giveBack(afterMs: number): Promise<number>;
  /** Ends `run`; positions in no frame yet are collected by the next collector. */
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
   * Resolves when a stream has all messages. Where it rejects, some may be stored: a server drops those that come again
   * under the same id within the duplicate window of the stream.
   */
  publish(messages: readonly { readonly id: string; readonly bytes: Uint8Array }[]): Promise<void>;
  /** Whether its connection has ended for good, so that it will never publish again. */
  isClosed(): boolean;
  close(): Promise<void>;
}

/** Every method throws an EngineFault where the bus cannot be used so. */
export interface Bus {
  /** The server and its version: `127.0.0.1:4222, nats-server 2.9.10`. */
  readonly name: string;
  /** Makes streams and consumers, or changes them to what is requested; no message is touched. */
  setUp(plan: StreamPlan): Promise<SetUp>;
  /** Checks that answers can be neither lost nor stored twice, and opens what receives and stores. */
  work(plan: WorkPlan): Promise<Work>;
  collect(options: CollectorOptions): Promise<Collecting>;
  serve(answerer: RequestAnswerer, options: ServiceOptions): Promise<Serving>;
  publisher(subject: string): Publisher;
  /** Sends what is queued and ends the connection. */
  close(): Promise<void>;
}
