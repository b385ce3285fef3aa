// JSON frames of the bulk stream: {"seq", "op", "points" or "hexcodes", "resolution"?} comes in, the answer of a
// batch with this seq leaves. A frame that cannot be read is answered too, with its seq if that can be read.
import type { Kernel } from '../../kernel/kernel.js';
import type { ByteSink } from '../bytes/byte-sink.js';
import { OVER_LIMIT_MESSAGE, OVERLOADED_MESSAGE } from '../job.js';
import { MAX_FRAME_POINTS } from '../limits.js';
import { DIFFERS } from '../params/query.js';
import {
  BrokenBatchError,
  batchBody,
  batchOf,
  type CountedAnswer,
  convertAllowed,
  uncounted,
} from './batch.js';
import { JsonEnvelope, NotJsonError } from './envelope.js';
import type { RowAllowance } from './row-report.js';

/** A JSON integer that a double holds exactly. */
const SEQ = /^-?(0|[1-9]\d{0,14})$/;
const SEQ_RULE = 'must be an integer of at most 15 digits';
const OP_RULE = 'must be "encode" or "decode"';

const EXAMPLE = '{"seq":1,"op":"encode","points":[[21.0288,105.8525]]}';

/**
 * @param sink passed by callers that answer many frames; the bytes may be a view of it
 * @param maxPoints frames with more points are rejected with OVER_QUERY_LIMIT
 */
export function answerJsonFrame(
  kernel: Kernel,
  frame: Uint8Array,
  sink: ByteSink,
  maxPoints = Number.POSITIVE_INFINITY,
): CountedAnswer {
  return answerAllowed(kernel, frame, sink, undefined, maxPoints)!;
}

/** Answers a frame within an allowance of points; undefined where it does not cover all points. */
export function answerAllowed(
  kernel: Kernel,
  frame: Uint8Array,
  sink: ByteSink,
  allowance: RowAllowance | undefined,
  maxPoints: number,
): CountedAnswer | undefined {
  let seq = 'null';
  try {
    const envelope = new JsonEnvelope(frame, kernel);
    seq = seqOf(envelope) ?? 'null';
    const operation = textsOf(envelope, 'op');
    const faults: string[] = [];
    if (seq === 'null') faults.push(`seq ${faultOf(textsOf(envelope, 'seq'), SEQ_RULE)}`);
    const isEncode = operation[0] === '"encode"';
    if (operation.length !== 1 || !(isEncode || operation[0] === '"decode"'))
      faults.push(`op ${faultOf(operation, OP_RULE)}`);
    if (faults.length > 0) return uncounted(refusal(seq, 'INVALID_REQUEST', faults.join('; ')));
    const batch = batchOf(isEncode ? 'encode' : 'decode', envelope, 'stream');
    if (batch.items.count > MAX_FRAME_POINTS) {
      return uncounted(refusal(seq, 'INVALID_REQUEST', `a frame has at most ${MAX_FRAME_POINTS} points`));
    }
    if (batch.items.count > maxPoints) {
      const bytes = refusal(seq, 'OVER_QUERY_LIMIT', `${OVER_LIMIT_MESSAGE}: send the frame again`);
      return uncounted(bytes, batch.items.count);
    }
    const converted = convertAllowed(kernel, batch, sink, allowance);
    if (converted === undefined) return undefined;
    const { total, failed } = converted;
    return { bytes: batchBody(converted, `"seq":${seq},`), total, failed, refused: 0 };
  } catch (error) {
    if (error instanceof NotJsonError)
      return uncounted(refusal(seq, 'INVALID_REQUEST', `the frame ${error.message}, such as ${EXAMPLE}`));
    if (error instanceof BrokenBatchError) return uncounted(refusal(seq, 'INVALID_REQUEST', error.message));
    throw error;
  }
}

/** The rejection of a frame that may be sent again. */
export function overloadedJsonFrame(frame: Uint8Array): Uint8Array<ArrayBuffer> {
  let seq = 'null';
  try {
    seq = seqOf(new JsonEnvelope(frame)) ?? 'null';
  } catch (error) {
    if (!(error instanceof NotJsonError)) throw error;
  }
  return refusal(seq, 'UNAVAILABLE', `${OVERLOADED_MESSAGE}: send the frame again`);
}

function seqOf(envelope: JsonEnvelope): string | undefined {
  const [text = '', ...others] = textsOf(envelope, 'seq');
  return others.length === 0 && SEQ.test(text) ? text : undefined;
}

/** The distinct values of a member, which may be repeated; an array is a value, whatever it holds. */
function textsOf(envelope: JsonEnvelope, name: string): string[] {
  const texts = envelope.members(name).map((member) => (member.isArray ? '[]' : envelope.text(member)));
  return [...new Set(texts)];
}

const faultOf = (texts: readonly string[], rule: string): string => (texts.length > 1 ? DIFFERS : rule);

function refusal(seq: string, word: string, message: string): Uint8Array<ArrayBuffer> {
  const text = `{"seq":${seq},"status":"${word}","message":${JSON.stringify(message)}}`;
  return new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>;
}
