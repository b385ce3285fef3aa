// Records of a fetched partition, without those of transactions that were aborted: the client leaves them in where the
// mark of the end is not in the same answer.
import type { fetchV13 } from '@platformatic/kafka';

type FetchResponsePartition = fetchV13.FetchResponsePartition;

export interface FetchedRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly (readonly [Buffer | null, Buffer | null])[];
}

const IS_TRANSACTIONAL = 0x10;
const IS_CONTROL = 0x20;
/** Type of a control record, behind two bytes of version in its key. */
const ABORT = 0;

/**
 * @param from records before it were asked for already: a broker sends whole batches
 * @returns the records, and the offset behind the last one, with or without a record
 */
export function recordsOf(
  topic: string,
  { partitionIndex: partition, records: batches, abortedTransactions }: FetchResponsePartition,
  from: bigint,
): { readonly records: FetchedRecord[]; readonly next: bigint } {
  const records: FetchedRecord[] = [];
  const waiting = [...(abortedTransactions ?? [])].sort((a, b) => (a.firstOffset < b.firstOffset ? -1 : 1));
  const aborted = new Set<bigint>();
  let next = from;
  for (const batch of batches ?? []) {
    const last = batch.firstOffset + BigInt(batch.lastOffsetDelta);
    while (waiting.length > 0 && waiting[0]!.firstOffset <= last) aborted.add(waiting.shift()!.producerId);
    if (last >= next) next = last + 1n;
    if ((batch.attributes & IS_CONTROL) !== 0) {
      if (batch.records[0]?.key?.readInt16BE(2) === ABORT) aborted.delete(batch.producerId);
      continue;
    }
    if ((batch.attributes & IS_TRANSACTIONAL) !== 0 && aborted.has(batch.producerId)) continue;
    for (const { offsetDelta, key, value, headers } of batch.records) {
      const offset = batch.firstOffset + BigInt(offsetDelta);
      if (offset >= from) records.push({ topic, partition, offset, key, value, headers });
    }
  }
  return { records, next };
}
