// Batches of any length: several calls of the size that the service takes, their results in one list and in the words
// of the library.
import { RECORD_BYTES, RECORD_TEXT_BYTES } from '../../wire/frames/frame-layout.js';
import { MAX_BATCH_ITEMS } from '../../wire/limits.js';
import type { BatchAnswer, DecodeBatchResult, EncodeBatchResult } from '../answers.js';
import { HexcodesClientError } from '../errors.js';
import type { BatchHexcode, BatchPoint, CallOptions, EncodeCallOptions } from '../options.js';
import type { HttpCalls } from './calls.js';

/** A result as the service writes it. */
type Served = { readonly status: string };

export function encodeBatch(
  http: HttpCalls,
  points: readonly BatchPoint[] | Float64Array,
  { resolution, former, certainty, signal }: EncodeCallOptions,
): Promise<BatchAnswer<EncodeBatchResult>> {
  const items = points instanceof Float64Array ? pairsOf(points) : points;
  return batch(
    http,
    'hexcodes/encode/batch',
    items,
    signal,
    (part) => ({
      ...(resolution === undefined ? {} : { resolution }),
      ...(former === undefined ? {} : { former }),
      ...(certainty === undefined ? {} : { certainty }),
      points: part,
    }),
    // The service's word for a position in no province is that of its HTTP status.
    (result) => (result.status === 'NOT_FOUND' ? { ...result, status: 'OUTSIDE_COVERAGE' } : result),
  );
}

export function decodeBatch(
  http: HttpCalls,
  hexcodes: readonly BatchHexcode[] | Uint8Array,
  { signal }: CallOptions,
): Promise<BatchAnswer<DecodeBatchResult>> {
  const items = hexcodes instanceof Uint8Array ? textsOf(hexcodes) : hexcodes;
  return batch(
    http,
    'hexcodes/decode/batch',
    items,
    signal,
    (part) => ({ hexcodes: part }),
    (result) =>
      result.status === 'INVALID_REQUEST'
        ? { lat: null, lng: null, resolution: null, hexcodes: null, ...result }
        : result,
  );
}

async function batch<Item, Result>(
  http: HttpCalls,
  path: string,
  items: readonly Item[],
  signal: AbortSignal | undefined,
  body: (part: readonly Item[]) => object,
  inOurWords: (result: Served) => Served,
): Promise<BatchAnswer<Result>> {
  if (!Array.isArray(items)) throw new HexcodesClientError('BAD_ARGUMENT', 'a batch is an array of items');
  const results: Served[] = [];
  const summary = { total: 0, ok: 0, failed: 0 };
  for (let first = 0; first === 0 || first < items.length; first += MAX_BATCH_ITEMS) {
    const part = await http.post<BatchAnswer<Served>>(
      path,
      body(items.slice(first, first + MAX_BATCH_ITEMS)),
      signal,
    );
    for (const result of part.results) results.push(inOurWords(result));
    summary.total += part.summary.total;
    summary.ok += part.summary.ok;
    summary.failed += part.summary.failed;
  }
  return { status: 'OK', summary, results: results as Result[] };
}

function pairsOf(latLng: Float64Array): [number, number][] {
  if (latLng.length % 2 !== 0)
    throw new HexcodesClientError('BAD_ARGUMENT', `positions are pairs: ${latLng.length} numbers are odd`);
  return Array.from({ length: latLng.length / 2 }, (_, i) => [latLng[2 * i]!, latLng[2 * i + 1]!]);
}

/** The texts of 20-byte records, as `encodeBatch` of the library makes them. */
function textsOf(records: Uint8Array): string[] {
  if (records.length % RECORD_BYTES !== 0)
    throw new HexcodesClientError('BAD_ARGUMENT', `records are ${RECORD_BYTES} bytes each`);
  return Array.from({ length: records.length / RECORD_BYTES }, (_, i) => {
    const bytes = records.subarray(i * RECORD_BYTES, i * RECORD_BYTES + RECORD_TEXT_BYTES);
    const end = bytes.indexOf(0);
    // Bytes outside ASCII are in no record of a hexcode; the replacement character is in no text of one.
    return Array.from(end < 0 ? bytes : bytes.subarray(0, end), (byte) =>
      byte < 0x80 ? String.fromCharCode(byte) : '\ufffd',
    ).join('');
  });
}
