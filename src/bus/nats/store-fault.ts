// Why a stream did not take a message, by the codes and words of nats-server 2.9 and later.
import { JetStreamApiError } from '@nats-io/jetstream';
import { InvalidArgumentError } from '@nats-io/transport-node';
import { StoreFault } from '../engine.js';

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

/** The subject without its last word, which is another one for each message. */
const familyOf = (subject: string): string => `${subject.slice(0, subject.lastIndexOf('.'))}.*`;
