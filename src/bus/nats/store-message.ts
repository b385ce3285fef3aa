// Stores one message to a stream that holds one a subject.
import type { JetStreamClient } from '@nats-io/jetstream';
import { headers } from '@nats-io/transport-node';
import { type Outgoing, type Stored, StoreFault } from '../engine.js';
import { storeFaultOf } from './store-fault.js';

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
    // Repetitions are known by the subject and not by the id: producers may use one id under several subjects, and a
    // server that takes the second answer for a repetition of the first would lose it.
    const { duplicate } = await client.publish(subject, bytes, {
      ...{ msgID: subject, headers: own, timeout: STORE_TIMEOUT_MS },
    });
    return duplicate ? 'already' : 'stored';
  } catch (error) {
    const fault = storeFaultOf(error as Error, subject);
    if (fault instanceof StoreFault) throw fault;
    return 'already';
  }
}
