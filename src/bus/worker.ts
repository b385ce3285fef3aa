// A worker: receives messages, converts each, stores the answer, and only then acknowledges the message. A worker
// that dies in between costs another delivery: the answer has a subject of its own, under which nothing is stored
// twice. A message that cannot be converted becomes a dead letter with the reason, once the worker's attempts have
// failed.
import { Durations, type Engine, type Outgoing, type Received, StoreFault } from './engine.js';
import type { ConvertedMessage, MessageConverter } from './messages/message-converter.js';
import {
  FORMAT_HEADER,
  MessageLater,
  READING_HEADERS,
  type ReadingRules,
  shapeOf,
} from './messages/message-shape.js';
import { PatientStore } from './patient-store.js';
import { MAX_SUBJECT_BYTES, type SubjectMap } from './subjects.js';

export interface WorkerOptions {
  readonly maps: readonly SubjectMap[];
  readonly rules: ReadingRules;
  /** Prefix of the subjects of dead letters. */
  readonly deadPrefix: string;
  /** Attempts to convert a message before it becomes a dead letter. */
  readonly tries: number;
  /** Most bytes of messages and answers that are held; one message is always accepted. */
  readonly maxHeldBytes: number;
  /** Interval of heartbeats to the bus for messages still being worked on. */
  readonly keepEveryMs: number;
  /** Called with sentences for people; a sentence is repeated while its cause lasts. */
  readonly say: (sentence: string) => void;
}

export interface WorkerFigures {
  /** Messages whose answer is stored, by this worker or another, and their points. */
  messages: number;
  points: number;
  failedPoints: number;
  /** Deliveries that were not the first. */
  redelivered: number;
  /** Answers that were stored already. */
  already: number;
  dead: number;
  heldMessages: number;
  heldBytes: number;
  /** Time from the delivery of a message to the storage of its answer or dead letter. */
  readonly times: Durations;
}

/** Delay before a message that met an unknown fault is delivered again. */
const RETURN_MS = 5000;

export class Worker {
  readonly figures: WorkerFigures = {
    messages: 0,
    points: 0,
    failedPoints: 0,
    redelivered: 0,
    already: 0,
    dead: 0,
    heldMessages: 0,
    heldBytes: 0,
    times: new Durations(),
  };
  readonly #store: PatientStore;
  readonly #stopped = new AbortController();
  /** Called when a message is finished. */
  #onDone: (() => void) | undefined;

  constructor(
    private readonly engine: Engine,
    private readonly converter: MessageConverter,
    private readonly options: WorkerOptions,
  ) {
    this.#store = new PatientStore({
      store: (message) => engine.store(message),
      deadPrefix: options.deadPrefix,
      say: options.say,
      signal: this.#stopped.signal,
    });
  }

  /** Failed attempts to store an answer, a dead letter or a transaction of them. */
  get storeFaults(): number {
    return this.#store.faults + (this.engine.storeFaults ?? 0);
  }

  /**
   * Works until `stop`, then finishes messages under way.
   * @throws EngineFault
   */
  async run(): Promise<void> {
    const { figures } = this;
    for await (const received of this.engine.receive()) {
      while (
        figures.heldMessages > 0 &&
        figures.heldBytes + received.bytes.length > this.options.maxHeldBytes
      )
        await this.#done();
      if (this.#stopped.signal.aborted) received.giveBack(0);
      else this.#take(received);
    }
    while (figures.heldMessages > 0) await this.#done();
  }

  /** Accepts no further message. Messages without a stored answer are returned to the bus after `graceMs`. */
  stop(graceMs: number): void {
    this.engine.stop();
    setTimeout(() => this.#stopped.abort(), graceMs).unref();
  }

  #done(): Promise<void> {
    return new Promise((resolve) => {
      this.#onDone = resolve;
    });
  }

  #take(received: Received): void {
    const { figures } = this;
    const startedMs = performance.now();
    let heldBytes = received.bytes.length;
    const hold = (bytes: number): void => {
      heldBytes += bytes;
      figures.heldBytes += bytes;
    };
    figures.heldMessages++;
    figures.heldBytes += heldBytes;
    if (received.deliveries > 1) figures.redelivered++;
    this.#answer(received, hold).finally(() => {
      figures.times.add(performance.now() - startedMs);
      figures.heldMessages--;
      figures.heldBytes -= heldBytes;
      this.#onDone?.();
    });
  }

  async #answer(received: Received, hold: (bytes: number) => void): Promise<void> {
    const keeping = setInterval(() => received.keep(), this.options.keepEveryMs);
    try {
      const made = await this.#make(received);
      if (made === undefined) {
        received.giveBack(RETURN_MS);
        return;
      }
      if (made.letter !== undefined) {
        await this.#bury(received, made.letter);
        return;
      }
      const { answer, message } = made;
      hold(answer.bytes.length);
      const stored = await this.#store.store(message);
      // A client may still send the bytes of an attempt that it has given up.
      if (stored === 'stored' || stored === 'already') answer.release?.();
      if (stored === undefined || stored === 'lost') received.giveBack(0);
      else if (stored instanceof StoreFault) await this.#bury(received, stored.message);
      else {
        this.figures.messages++;
        this.figures.points += answer.points;
        this.figures.failedPoints += answer.failed;
        if (stored === 'already') this.figures.already++;
        received.accept();
      }
    } catch (error) {
      // Nothing above should throw. A message that makes it throw would do so at each delivery.
      const { message } = error as Error;
      await this.#bury({ ...received, headers: new Map() }, message).catch(() => {
        this.options.say(`${received.origin}: ${message}`);
        received.giveBack(RETURN_MS);
      });
    } finally {
      clearInterval(keeping);
    }
  }

  /** The answer to a message and its subject, or the reason why there is none; undefined where it must wait. */
  async #make(
    received: Received,
  ): Promise<
    | { readonly letter: string }
    | { readonly letter?: never; readonly answer: ConvertedMessage; readonly message: Outgoing }
    | undefined
  > {
    const { maps, rules, tries } = this.options;
    const { id, headers, handle } = received;
    if (received.damage !== undefined) return { letter: received.damage };
    const subject = maps.map((map) => map.answerOf(received.subject, id)).find((each) => each !== undefined);
    if (subject === undefined) return { letter: `no map says where answers to ${received.subject} go` };
    const subjectBytes = Buffer.byteLength(subject);
    if (subjectBytes > MAX_SUBJECT_BYTES)
      return {
        letter: `the subject of its answer would have ${subjectBytes} bytes, and may have ${MAX_SUBJECT_BYTES}`,
      };
    for (let tried = 1; ; tried++) {
      try {
        const shape = shapeOf(received.subject, headers, rules);
        const answer = await this.converter.convert(received.bytes, shape);
        const passed = new Map([...headers].filter(([name]) => !READING_HEADERS.includes(name)));
        passed.set(FORMAT_HEADER, shape.format === 'avro' ? 'json' : shape.format);
        return { answer, message: { subject, id, handle, bytes: answer.bytes, headers: passed } };
      } catch (error) {
        if (error instanceof MessageLater) {
          this.options.say(`${received.origin}: ${error.message}; it is tried again`);
          return undefined;
        }
        if (tried >= tries) return { letter: (error as Error).message };
      }
    }
  }

  async #bury(received: Received, reason: string): Promise<void> {
    if (await this.#store.bury(received, reason)) {
      this.figures.dead++;
      received.accept();
    } else received.giveBack(RETURN_MS);
  }
}
