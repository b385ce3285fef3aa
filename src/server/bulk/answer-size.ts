// The length of an answer, where it is known before its first byte: then it has a Content-Length and no chunk headers.
// The whole body must have been received, without an error in it.
import { framesAnswerBytes } from '../../hexcodes/wire/frames/frame-sequence.js';
import type { BulkIntake } from './intake.js';
import type { ParsedBulkRequest } from './request.js';

/** A body with more frames gets a chunked answer: to read their headers in one go would hold up other requests. */
const MAX_SIZED_FRAMES = 4096;

/** Before anything is converted: the headers of frames say how long their answers will be. */
export function sizeFromFrameHeaders({ hasEnded, error, job, blocks }: BulkIntake): number | undefined {
  if (!hasEnded || error !== undefined || blocks.length === 0) return undefined;
  if (job?.input !== 'frames' || job.output !== 'frames') return undefined;
  return framesAnswerBytes(job, blocks, MAX_SIZED_FRAMES);
}

/** After everything is converted, into `answeredBytes`. An answer without a byte has no size: it is sent in chunks. */
export function sizeFromAnswers(intake: BulkIntake, answeredBytes: number): number | undefined {
  const { hasEnded, error, blocks, head } = intake;
  if (!hasEnded || error !== undefined || blocks.length > 0) return undefined;
  const sizeBytes = head.length + answeredBytes;
  return sizeBytes === 0 ? undefined : sizeBytes;
}

/**
 * Bytes that the answer has at least, before anything of the body has come; 0 where its head does not tell. A row of
 * CSV that is answered as CSV comes back whole.
 * @param bodySizeBytes -1 for a body in chunks
 */
export function leastAnswerBytes(
  { request, gzipIn, gzipOut }: ParsedBulkRequest,
  bodySizeBytes: number,
): number {
  const isEchoed = request.input === 'csv' && request.output === 'csv' && !gzipIn && !gzipOut;
  return isEchoed ? Math.max(0, bodySizeBytes) : 0;
}
