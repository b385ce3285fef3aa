// Collects single positions of a stream into frames of another. Every frame begins after the previous one and names
// the messages that it is made of; its subject ends with the sequence of the first, and the server rejects a second
// frame with that subject. So positions are neither lost nor duplicated when a process dies, and several collectors
// may run: one is ahead, the others find its frames and continue after them.

import { setTimeout as sleep } from 'node:timers/promises';
import {
  AckPolicy,
  type Consumer,
  type ConsumerInfo,
  DeliverPolicy,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
  jetstream,
} from '@nats-io/jetstream';
import { headers, type NatsConnection, nanos } from '@nats-io/transport-node';
import type { BusLook, Collecting, CollectorFigures, CollectorOptions, StreamFill } from '../bus.js';
import { Durations, EngineFault } from '../engine.js';
import { FORMAT_HEADER, UnreadableMessage } from '../messages/message-shape.js';
import {
  lastSequenceOf,
  PositionBatch,
  readPositionObject,
  SEQUENCES_HEADER,
  vehicleOf,
} from '../messages/position-object.js';
import { PatientStore } from '../patient-store.js';
import { NEARLY_FULL } from '../sizing.js';
import { readHeaders, storeMessage } from './nats-engine.js';
import { fillOf } from './streams.js';

// Frees space in a stream that is nearly full: removes the oldest acknowledged messages. At least half of the
// messages stay, so that a stream is never empty: a server that is killed then knows the last sequence, by which
// answers to messages without an id are found.

/**
 * Removals of single messages that run at once. A purge by sequence would be one call, but a server 2.9 that was
 * killed after it lost messages acknowledged since: 1 to 5 of 960 in most runs of test/support/engine/kill-run.ts,
 * and none with single removals.
 */
const AT_ONCE = 64;
/** Marks further apart than this say nothing about the time between them: the servers were away. */
const MAX_GAP_MS = 15_000;

/**
 * Values of a growing number at some moments, so that its value a given time ago is known. A server that dies forgets
 * answers that it has acknowledged but not yet written, and delivers their messages again; therefore a message stays
 * for a time after its answer is stored.
 */
export class Marks {
  #marks: { readonly value: number; readonly atMs: number }[] = [];

  /** @param value falls where a server has forgotten something; earlier marks are dropped then */
  add(value: number, atMs = performance.now()): void {
    const last = this.#marks.at(-1);
    if (last !== undefined && (value < last.value || atMs - last.atMs > MAX_GAP_MS)) this.#marks = [];
    this.#marks.push({ value, atMs });
  }

  /** The value `ageMs` ago; undefined where it is not known. Earlier marks are dropped. */
  before(ageMs: number, nowMs = performance.now()): number | undefined {
    const at = this.#marks.findLastIndex(({ atMs }) => nowMs - atMs >= ageMs);
    if (at < 0) return undefined;
    this.#marks.splice(0, at);
    return this.#marks[0]!.value;
  }
}

/** The sequence of the last message that a consumer has acknowledged, or delivered if it acknowledges none. */
const readUpTo = ({ config, ack_floor, delivered }: ConsumerInfo): number =>
  config.ack_policy === AckPolicy.None ? delivered.stream_seq : ack_floor.stream_seq;

/**
 * @param keptFrom the first message that must stay, whatever its consumers have read
 * @returns the number of messages removed
 */
export async function giveBack(
  jsm: JetStreamManager,
  { name, bytes, maxBytes }: StreamFill,
  keptFrom: number,
): Promise<number> {
  if (maxBytes === 0 || bytes < NEARLY_FULL * maxBytes) return 0;
  const { state } = await jsm.streams.info(name);
  let end = Math.min(keptFrom, state.first_seq + Math.floor(state.messages / 2));
  // Others may read the same stream.
  for await (const consumer of jsm.consumers.list(name)) end = Math.min(end, readUpTo(consumer) + 1);
  if (end <= state.first_seq) return 0;
  for (let at = state.first_seq; at < end; at += AT_ONCE)
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, end - at) }, (_, i) => remove(jsm, name, at + i)),
    );
  return end - state.first_seq;
}

async function remove(jsm: JetStreamManager, stream: string, number: number): Promise<void> {
  try {
    await jsm.streams.deleteMessage(stream, number, false);
  } catch (error) {
    // Another worker has removed it, or its age has.
    if (!/no message found/i.test((error as Error).message)) throw error;
  }
}

/** Sequence of the first message from `from` on whose subject is one of these; infinite if there is none. */
export async function firstOf(
  jsm: JetStreamManager,
  stream: string,
  from: number,
  subjects: string,
): Promise<number> {
  // Servers since 2.9 accept both together; the client's types allow only one.
  const query = { seq: from, next_by_subj: subjects } as { seq: number };
  const found = await jsm.streams.getMessage(stream, query);
  return found?.seq ?? Number.POSITIVE_INFINITY;
}

/** JSStreamWrongLastSequenceErr: the subject already has a message. */
const WRONG_LAST_SEQUENCE = 10_071;
const PULL_EXPIRES_MS = 1000;
const INACTIVE_MS = 60_000;
const RETRY_MS = 500;
const PUBLISH_TIMEOUT_MS = 5000;

/** Another collector is ahead, or deliveries have a gap: start again after the last frame. */
class Overtaken extends Error {}

export class Collector implements Collecting {
  readonly figures: CollectorFigures = { frames: 0, positions: 0, dead: 0, times: new Durations() };
  /** Sequence of the message after the last frame. */
  #next = 1;
  readonly #collected = new Marks();
  readonly #client: JetStreamClient;
  readonly #stopped = new AbortController();
  readonly #store: PatientStore;
  /** Delivered messages that are in no frame yet. */
  #queue: JsMsg[] = [];
  #wake: (() => void) | undefined;

  constructor(
    nc: NatsConnection,
    private readonly jsm: JetStreamManager,
    private readonly options: CollectorOptions,
  ) {
    this.#client = jetstream(nc);
    this.#store = new PatientStore({
      store: (message) => storeMessage(this.#client, message),
      deadPrefix: options.deadPrefix,
      say: options.say,
      signal: this.#stopped.signal,
    });
  }

  /** @throws EngineFault where a stream does not take the frames */
  async run(): Promise<void> {
    while (!this.#isStopped) {
      try {
        await this.#collectFrom((await this.#lastSequence()) + 1);
      } catch (error) {
        if (!(error instanceof Overtaken))
          this.options.say(`collecting stops for a moment: ${(error as Error).message}`);
        if (!this.#isStopped) await sleep(RETRY_MS * Math.random());
      }
    }
  }

  async look(): Promise<BusLook> {
    const { positions, stream } = this.options;
    const { state } = await this.jsm.streams.info(positions);
    return {
      waiting: Math.max(0, state.last_seq + 1 - Math.max(this.#next, state.first_seq)),
      underWay: this.#queue.length,
      streams: [await fillOf(this.jsm, positions), await fillOf(this.jsm, stream)],
    };
  }

  async giveBack(afterMs: number): Promise<number> {
    const { positions } = this.options;
    const { config } = await this.jsm.streams.info(positions);
    this.#collected.add(this.#next);
    // A server that is killed recognises duplicates of a producer by the messages that are still stored.
    const next = this.#collected.before(Math.max(afterMs, config.duplicate_window / 1e6));
    return next === undefined ? 0 : giveBack(this.jsm, await fillOf(this.jsm, positions), next);
  }

  /** Ends `run`; positions in no frame yet are collected by the next collector. */
  stop(): void {
    this.#stopped.abort();
    this.#wake?.();
  }

  get #isStopped(): boolean {
    return this.#stopped.signal.aborted;
  }

  /** Sequence of the last message that is in a frame; 0 where there is no frame. */
  async #lastSequence(): Promise<number> {
    const { positions, stream, subject } = this.options;
    const frame = await this.jsm.streams.getMessage(stream, { last_by_subj: `${subject}.*` });
    if (frame === null) return 0;
    const { state } = await this.jsm.streams.info(positions);
    try {
      return lastSequenceOf(frame.subject, frame.header.get(SEQUENCES_HEADER), state.last_seq);
    } catch (error) {
      // Continuing after it could skip positions.
      const way = `nats stream rmm ${stream} ${frame.seq} removes it`;
      throw new EngineFault(
        `the last frame, ${frame.subject}, is not one of a collector: ${(error as Error).message}; ${way}`,
      );
    }
  }

  async #collectFrom(first: number): Promise<void> {
    const { positions } = this.options;
    // The consumer acknowledges nothing: the frames say how far it has come.
    const { name } = await this.jsm.consumers.add(positions, {
      ack_policy: AckPolicy.None,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: first,
      inactive_threshold: nanos(INACTIVE_MS),
      mem_storage: true,
    });
    const over = new AbortController();
    this.#queue = [];
    let fault: Error | undefined;
    const pulling = this.#pull(await this.#client.consumers.get(positions, name), over.signal).catch(
      (error: Error) => {
        fault = error;
        this.#wake?.();
      },
    );
    try {
      this.#next = first;
      for (let next = first; !this.#isStopped; ) {
        if (fault !== undefined) throw fault;
        if (this.#queue.length === 0) await new Promise<void>((resolve) => (this.#wake = resolve));
        else next = await this.#makeFrame(next);
      }
    } finally {
      over.abort();
      await pulling;
      await this.jsm.consumers.delete(positions, name).catch(() => {});
    }
  }

  /** Fills the queue up to the size of a frame. */
  async #pull(consumer: Consumer, signal: AbortSignal): Promise<void> {
    let delivered = 0;
    while (!signal.aborted && !this.#isStopped) {
      const space = this.options.maxPoints - this.#queue.length;
      if (space <= 0) {
        await sleep(1);
        continue;
      }
      const pull = await consumer.fetch({ max_messages: space, expires: PULL_EXPIRES_MS });
      const end = (): void => pull.stop();
      signal.addEventListener('abort', end);
      for await (const message of pull) {
        if (message.info.deliverySequence !== ++delivered) throw new Overtaken('a delivery was lost');
        this.#queue.push(message);
        this.#wake?.();
      }
      signal.removeEventListener('abort', end);
    }
  }

  /**
   * Makes a frame of the queue.
   * @returns the sequence of the message after it
   */
  async #makeFrame(first: number): Promise<number> {
    const { maxPoints, waitMs } = this.options;
    const startedMs = performance.now();
    for (const end = performance.now() + waitMs; this.#queue.length < maxPoints; await sleep(5))
      if (performance.now() >= end || this.#isStopped) break;
    const batch = new PositionBatch(first, maxPoints);
    let taken = 0;
    for (const message of this.#queue) {
      if (!(await this.#add(batch, message))) break;
      taken++;
    }
    if (taken === 0) throw new Overtaken('stopped');
    this.#queue.splice(0, taken);
    if (batch.points > 0) await this.#publish(batch);
    this.figures.times.add(performance.now() - startedMs);
    this.#next = batch.lastSeq + 1;
    return this.#next;
  }

  /** @returns whether the frame has the message, or it is a dead letter and belongs to no frame */
  async #add(batch: PositionBatch, message: JsMsg): Promise<boolean> {
    const read = readHeaders(message);
    try {
      if (read.damage !== undefined) throw new UnreadableMessage(read.damage);
      const object = readPositionObject(message.data, this.options.paths);
      const { latDeg, lngDeg } = object;
      return batch.add(message.seq, latDeg, lngDeg, vehicleOf(object) ?? message.subject);
    } catch (error) {
      const { stream } = message.info;
      const dead = {
        subject: message.subject,
        bytes: message.data,
        id: read.id,
        headers: read.headers,
        origin: `stream ${stream}, message ${message.seq}`,
      };
      if (!(await this.#store.bury(dead, (error as Error).message))) return false;
      this.figures.dead++;
      batch.skip(message.seq);
      return true;
    }
  }

  /**
   * Publishes a frame until it is stored.
   * @throws Overtaken where another frame begins with the same message
   */
  async #publish(batch: PositionBatch): Promise<void> {
    const { subject, resolution, say } = this.options;
    const own = headers();
    for (const [name, value] of batch.headers) own.set(name, value);
    own.set(FORMAT_HEADER, 'frames');
    const address = `${subject}.${batch.firstSeq}`;
    for (;;) {
      try {
        // The frame has no id: a server that takes it for a duplicate would not say whose frame is stored.
        await this.#client.publish(address, batch.frame(resolution), {
          headers: own,
          timeout: PUBLISH_TIMEOUT_MS,
          expect: { lastSubjectSequence: 0 },
        });
        this.figures.frames++;
        this.figures.positions += batch.points;
        return;
      } catch (error) {
        const isThere = error instanceof JetStreamApiError && error.code === WRONG_LAST_SEQUENCE;
        if (isThere) throw new Overtaken('there is such a frame');
        say(`a frame is not stored yet (${(error as Error).message}): it is tried again, nothing is lost`);
      }
      if (this.#isStopped) throw new Overtaken('stopped');
      await sleep(RETRY_MS);
    }
  }
}
