// Stores messages, with retries while the bus is away or a stream is full.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Outgoing, type Received, type Stored, StoreFault } from './engine.js';
import { shortSubject, wordOf } from './subjects.js';

// The dead letter of a message: its bytes and headers, and why it was not answered.
const REASON_HEADER = 'Hexcodes-Reason';
const SUBJECT_HEADER = 'Hexcodes-Subject';
const ORIGIN_HEADER = 'Hexcodes-Place';

const MAX_REASON = 500;

export type DeadMessage = Pick<Received, 'subject' | 'id' | 'bytes' | 'headers' | 'origin' | 'handle'>;

/** @param prefix of the subject, before the subject of the message */
export function deadLetter(message: DeadMessage, prefix: string, reason: string): Outgoing {
  const { subject, id, bytes, headers, origin, handle } = message;
  return {
    subject: `${prefix}.${shortSubject(`${subject}.${wordOf(id)}`)}`,
    id,
    bytes,
    handle,
    isDead: true,
    headers: new Map([
      ...headers,
      [REASON_HEADER, reason.replace(/[\r\n]+/g, ' ').slice(0, MAX_REASON)],
      [SUBJECT_HEADER, subject],
      [ORIGIN_HEADER, origin],
    ]),
  };
}

/** Longer ids become a digest. */
const MAX_ID = 512;

/**
 * The dead letter without the message's bytes, headers and key, where it would be larger than the bus takes: any of
 * them may be what is too large, and a letter that cannot be stored stops what follows.
 */
export function bareDeadLetter(message: DeadMessage, prefix: string, reason: string): Outgoing {
  const words = `${reason}; its bytes are in ${message.origin}, as they are too many for a dead letter`;
  const letter = deadLetter({ ...message, bytes: new Uint8Array(0), headers: new Map() }, prefix, words);
  return { ...letter, id: letter.id.length > MAX_ID ? wordOf(letter.id) : letter.id, isBare: true };
}

const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 5000;

export interface PatientStoreOptions {
  readonly store: (message: Outgoing) => Promise<Stored>;
  /** Prefix of the subjects of dead letters. */
  readonly deadPrefix: string;
  /** Called with a sentence for each fault. */
  readonly say: (sentence: string) => void;
  /** Ends all waiting. */
  readonly signal: AbortSignal;
  /** Waits between two attempts; rejects when the signal comes. */
  readonly pause?: (delayMs: number, signal: AbortSignal) => Promise<void>;
}

const pauseBy = (delayMs: number, signal: AbortSignal): Promise<void> =>
  sleep(delayMs, undefined, { signal });

export class PatientStore {
  /** Failed attempts. */
  faults = 0;

  constructor(private readonly options: PatientStoreOptions) {}

  /** @returns undefined if the signal came before the message was stored; the fault, if it is permanent */
  async store(message: Outgoing): Promise<Stored | StoreFault | undefined> {
    const { store, say, signal, pause = pauseBy } = this.options;
    for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(MAX_DELAY_MS, 2 * delayMs)) {
      try {
        return await store(message);
      } catch (error) {
        if (!(error instanceof StoreFault)) throw error;
        if (error.kind === 'too-large') return error;
        this.faults++;
        say(error.message);
      }
      try {
        // Random delay, so that many workers do not retry at once.
        await pause(delayMs * (0.5 + Math.random()), signal);
      } catch {
        return undefined;
      }
    }
  }

  /**
   * Stores a message in the dead letters and reports it.
   * @returns whether it is stored
   */
  async bury(message: DeadMessage, reason: string): Promise<boolean> {
    const { deadPrefix, say } = this.options;
    let stored = await this.store(deadLetter(message, deadPrefix, reason));
    if (stored instanceof StoreFault) stored = await this.store(bareDeadLetter(message, deadPrefix, reason));
    if (stored === undefined || stored === 'lost' || stored instanceof StoreFault) return false;
    say(`dead letter: ${message.origin} (${message.subject}): ${reason}`);
    return true;
  }
}
