// The engine on NATS JetStream: a durable pull consumer with explicit acknowledgements, and streams that hold one
// message a subject. Messages are pulled as others are finished, so that no more are held than were requested: the
// client's own endless pull asks for more as messages arrive, whether or not they have been worked on.

import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Consumer,
  type ConsumerMessages,
  JetStreamApiError,
  type JetStreamClient,
  type JsMsg,
  jetstream,
} from '@nats-io/jetstream';
import { headers, InvalidArgumentError, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node';
import {
  type Engine,
  EngineFault,
  type Outgoing,
  type Received,
  type Stored,
  StoreFault,
} from '../engine.js';

// Storing of a message in a stream that holds one message a subject.

// Why a stream rejected a message, by the codes and words of nats-server 2.9 and later.
/** JSStreamStoreFailedF: the stream's own limits. */
const NOT_STORED = 10_077;
/** JSStreamMessageExceedsMaximumErr. */
const TOO_LARGE_FOR_STREAM = 10_054;
/** JSStreamHeaderExceedsMaximumErr: no stream takes 64 KiB of headers and more. */
const HEADERS_TOO_LARGE = 10_097;
/** Insufficient resources; storage, memory, of the server or the account. */
const NO_STORAGE = [10_023, 10_047, 10_028, 10_002];

/** `already` where the subject already has a message. */
function storeFaultOf(error: Error, subject: string): StoreFault | 'already' {
  const fault = (kind: StoreFault['kind'], words: string): StoreFault =>
    new StoreFault(kind, words, { cause: error });
  if (error instanceof InvalidArgumentError && /max_payload/i.test(error.message))
    return fault('too-large', 'the answer is larger than the servers take (max_payload)');
  if (!(error instanceof JetStreamApiError))
    return fault(
      'away',
      `an answer is not stored yet (${error.message}): it is tried again, nothing is lost`,
    );
  const { code, message } = error;
  if (code === NOT_STORED && /per subject/.test(message)) return 'already';
  if (code === TOO_LARGE_FOR_STREAM)
    return fault('too-large', 'the answer is larger than its stream takes (max_msg_size)');
  if (code === HEADERS_TOO_LARGE)
    return fault('too-large', 'the answer would have more headers than a stream takes (64 KiB)');
  if ((code === NOT_STORED && /maximum|exceeded/.test(message)) || NO_STORAGE.includes(code))
    return fault(
      'full',
      `the stream of ${familyOf(subject)} is full (${message}): answers wait, nothing is lost; hexcodes worker setup --max-bytes makes it larger`,
    );
  return fault('away', `an answer is not stored yet (${message}): it is tried again, nothing is lost`);
}

/** The subject without its last word, which differs in each message. */
const familyOf = (subject: string): string => `${subject.slice(0, subject.lastIndexOf('.'))}.*`;

/** The id of the message that an answer belongs to. */
const ANSWERED_ID_HEADER = 'Hexcodes-Id';

const STORE_TIMEOUT_MS = 5000;

/** @throws StoreFault */
export async function storeMessage(
  client: JetStreamClient,
  { subject, id, bytes, headers: given }: Outgoing,
): Promise<Stored> {
  const own = headers();
  for (const [name, value] of given) own.set(name, value);
  own.set(ANSWERED_ID_HEADER, id.replace(/[\r\n]+/g, ' '));
  try {
    // Duplicates are recognised by subject, not by id: producers may use one id under several subjects, and a server
    // that takes the second answer for a duplicate of the first would lose it.
    const { duplicate } = await client.publish(subject, bytes, {
      msgID: subject,
      headers: own,
      timeout: STORE_TIMEOUT_MS,
    });
    return duplicate ? 'already' : 'stored';
  } catch (error) {
    const fault = storeFaultOf(error as Error, subject);
    if (fault instanceof StoreFault) throw fault;
    return 'already';
  }
}

/**
 * Sends everything of one turn of the event loop together, so that the client makes one write of it: the client
 * writes as soon as the sending code returns, and a write for each small answer and acknowledgement costs more than
 * everything else.
 */
export class Outbox {
  #sends: (() => void)[] = [];

  /** @param send called at the end of this turn of the event loop; must not throw */
  add(send: () => void): void {
    if (this.#sends.length === 0) setImmediate(() => this.#run());
    this.#sends.push(send);
  }

  #run(): void {
    const sends = this.#sends;
    this.#sends = [];
    for (const send of sends) send();
  }
}

/** Header of the producer's id. */
const ID_HEADER = 'Nats-Msg-Id';

const PULL_EXPIRES_MS = 5000;
/** Time after which a pull that has not ended by its own rules is cancelled. */
const PULL_PATIENCE_MS = 20_000;
const AFTER_FAULT_MS = 250;
/** Longest absence of stream and consumer, while servers start. */
const GONE_MS = 15_000;

interface NatsEngineOptions {
  readonly stream: string;
  readonly consumer: string;
  /** Most messages that are held at once. */
  readonly maxMessages: number;
}

export class NatsEngine implements Engine {
  readonly #client: JetStreamClient;
  #free: number;
  #isStopped = false;
  #fault: Error | undefined;
  #goneSinceMs: number | undefined;
  readonly #waiting: Received[] = [];
  readonly #pulls = new Set<ConsumerMessages>();
  readonly #outbox = new Outbox();
  /** Wakes the loop of `receive`. */
  #wake: (() => void) | undefined;

  constructor(
    private readonly nc: NatsConnection,
    private readonly options: NatsEngineOptions,
  ) {
    this.#client = jetstream(nc);
    this.#free = options.maxMessages;
  }

  async *receive(): AsyncGenerator<Received> {
    const { stream, consumer, maxMessages } = this.options;
    const source = await this.#client.consumers.get(stream, consumer);
    this.nc.closed().then((error) => {
      this.#fault ??= new EngineFault(`the connection is closed${error ? `: ${error.message}` : ''}`);
      this.#wake?.();
    });
    let pulls = 0;
    const pullMore = (): void => {
      // A pull costs as much as some messages, so it waits until it is worthwhile.
      const isWorth = this.#free >= Math.max(1, maxMessages / 4);
      if (this.#isStopped || !isWorth) return;
      const size = this.#free;
      this.#free = 0;
      pulls++;
      this.#pull(source, size).finally(() => {
        pulls--;
        this.#wake?.();
      });
    };
    while (!this.#isStopped || pulls > 0) {
      if (this.#fault !== undefined) throw this.#fault;
      pullMore();
      const received = this.#waiting.shift();
      if (received === undefined) await new Promise<void>((resolve) => (this.#wake = resolve));
      else if (this.#isStopped) received.giveBack(0);
      else yield received;
    }
    for (const received of this.#waiting) received.giveBack(0);
  }

  stop(): void {
    this.#isStopped = true;
    for (const pull of this.#pulls) pull.stop();
    this.#wake?.();
  }

  /** Requests a number of messages and waits until they have come or the time is over. */
  async #pull(source: Consumer, size: number): Promise<void> {
    let left = size;
    let pull: ConsumerMessages | undefined;
    const watch = setTimeout(() => pull?.stop(), PULL_PATIENCE_MS);
    try {
      pull = await source.fetch({ max_messages: size, expires: PULL_EXPIRES_MS });
      this.#pulls.add(pull);
      if (this.#isStopped) pull.stop();
      for await (const message of pull) {
        left--;
        this.#waiting.push(this.#received(message));
        this.#wake?.();
      }
      this.#goneSinceMs = undefined;
    } catch (error) {
      await this.#afterFault(source, error as Error);
    } finally {
      clearTimeout(watch);
      if (pull !== undefined) this.#pulls.delete(pull);
      this.#free += left;
    }
  }

  /** Missed heartbeats and unreachable servers are temporary. A stream that is gone is not. */
  async #afterFault(source: Consumer, error: Error): Promise<void> {
    if (this.#isStopped || this.nc.isClosed()) return;
    const isGone = await source.info().then(
      () => false,
      (cause: Error) => /not found/.test(cause.message),
    );
    const nowMs = performance.now();
    this.#goneSinceMs = isGone ? (this.#goneSinceMs ?? nowMs) : undefined;
    if (this.#goneSinceMs !== undefined && nowMs - this.#goneSinceMs > GONE_MS) {
      const { stream, consumer } = this.options;
      this.#fault = new EngineFault(`stream ${stream} or its consumer ${consumer} is gone`, undefined, {
        cause: error,
      });
    }
    await sleep(AFTER_FAULT_MS);
  }

  #received(message: JsMsg): Received {
    let isSettled = false;
    const settle = (how: () => void): void => {
      if (isSettled) return;
      isSettled = true;
      how();
      this.#free++;
      this.#wake?.();
    };
    const { stream, streamSequence, deliveryCount } = message.info;
    return {
      subject: message.subject,
      bytes: message.data,
      ...readHeaders(message),
      origin: `stream ${stream}, message ${streamSequence}`,
      deliveries: deliveryCount,
      accept: () => settle(() => this.#outbox.add(() => message.ack())),
      giveBack: (delayMs) => settle(() => message.nak(delayMs)),
      keep: () => {
        if (!isSettled) message.working();
      },
    };
  }

  store(message: Outgoing): Promise<Stored> {
    return new Promise((resolve, reject) => {
      this.#outbox.add(() => void storeMessage(this.#client, message).then(resolve, reject));
    });
  }
}

/**
 * The id and the headers of a message. Servers accept headers from other clients that their own client refuses to
 * read.
 */
export function readHeaders(message: JsMsg): Pick<Received, 'id' | 'headers' | 'damage'> {
  const { stream, streamSequence } = message.info;
  const byNumber = `${stream}:${streamSequence}`;
  try {
    const { headers } = message;
    return { id: headers?.get(ID_HEADER) || byNumber, headers: applicationHeaders(headers) };
  } catch (error) {
    return {
      id: byNumber,
      headers: new Map(),
      damage: `its headers are damaged: ${(error as Error).message}`,
    };
  }
}

/** Headers without those that NATS servers and clients interpret. */
function applicationHeaders(all: MsgHdrs | undefined): Map<string, string> {
  const own = new Map<string, string>();
  for (const name of all?.keys() ?? [])
    if (/^[!-9;-~]+$/.test(name) && !/^nats-/i.test(name) && name !== ANSWERED_ID_HEADER)
      own.set(
        name,
        all!
          .values(name)
          .join(', ')
          .replace(/[\r\n]+/g, ' '),
      );
  return own;
}
