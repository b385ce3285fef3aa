// The dead letter of a message: its bytes and headers, and why it was not answered.
import type { Outgoing, Received } from './engine.js';
import { shortSubject, wordOf } from './subjects.js';

const REASON_HEADER = 'Hexcodes-Reason';
const SUBJECT_HEADER = 'Hexcodes-Subject';
const ORIGIN_HEADER = 'Hexcodes-Place';

const MOST_REASON = 500;

export type DeadMessage = Pick<Received, 'subject' | 'id' | 'bytes' | 'headers' | 'origin'>;

/** @param prefix before the subject of the message */
export function deadLetter(message: DeadMessage, prefix: string, reason: string): Outgoing {
  const { subject, id, bytes, headers, origin } = message;
  return {
    subject: `${prefix}.${shortSubject(`${subject}.${wordOf(id)}`)}`,
    id,
    bytes,
    headers: new Map([
      ...headers,
      [REASON_HEADER, reason.replace(/[\r\n]+/g, ' ').slice(0, MOST_REASON)],
      [SUBJECT_HEADER, subject],
      [ORIGIN_HEADER, origin],
    ]),
  };
}

/** The same without bytes, for a message whose dead letter is larger than the bus takes. */
export function emptyDeadLetter(message: DeadMessage, prefix: string, reason: string): Outgoing {
  const words = `${reason}; its bytes are in ${message.origin}, as they are too many for a dead letter`;
  return deadLetter({ ...message, bytes: new Uint8Array(0) }, prefix, words);
}
