// Stores one message to a stream that holds one a subject.
import { JetStreamApiError, type JetStreamClient } from '@nats-io/jetstream';
import { headers, InvalidArgumentError } from '@nats-io/transport-node';
import { type Outgoing, type Stored, StoreFault } from '../engine.js';

// Why a stream did not take a message, by the codes and words of nats-server 2.9 and later.
/** JSStreamStoreFailedF: the stream's own limits. */
const NOT_STORED = 10_077;
/** JSStreamMessageExceedsMaximumErr. */
const TOO_LARGE_FOR_STREAM = 10_054;
/** Insufficient resources; storage, memory, of the server or the account. */
const NO_STORAGE = [10_023, 10_047, 10_028, 10_002];

/** `already` where the subject has its message. */
export function storeFaultOf(error: Error, subject: string): StoreFault | 'already' {
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
  if ((code === NOT_STORED && /maximum|exceeded/.test(message)) || NO_STORAGE.includes(code))
    return fault(
      'full',
      `the stream of ${familyOf(subject)} is full (${message}): answers wait, nothing is lost; hexcodes worker setup --max-bytes makes it larger`,
    );
  return fault('away', `an answer is not stored yet (${message}): it is tried again, nothing is lost`);
}

/** The subject without its last word, which differs for each message. */
const familyOf = (subject: string): string => `${subject.slice(0, subject.lastIndexOf('.'))}.*`;

/** The id of the message that an answer belongs to. */
export const ANSWERED_ID_HEADER = 'Hexcodes-Id';

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
    // Repetitions are recognized by the subject and not by the id: producers may use one id under several subjects, and
    // a server that takes the second answer for a repetition of the first would lose it.
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
