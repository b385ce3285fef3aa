// Bulk bodies made of frames: where one frame ends and the next begins, the size of the answers, and answer frames for
// rows that came as text. Single frames are answered by answer-frame.ts.
import type { BulkJob, Operation } from '../job.js';
import { answerFrameBytes, frameCount, requestFrameBytes } from './answer-frame.js';
import {
  FRAME_CELLS,
  FRAME_DECODE,
  FRAME_ENCODE,
  FRAME_HEADER_BYTES,
  FRAME_VERSION,
  POSITION_ANSWER_BYTES,
  RECORD_BYTES,
} from './frame-layout.js';

export interface FrameHeader {
  readonly operation: Operation;
  readonly resolution: number;
  readonly isCells: boolean;
  readonly count: number;
  /** Size of the whole frame. */
  readonly sizeBytes: number;
}

/** The header of the request frame at `at`; undefined where it gives no size, so that no next frame can be found. */
export function readFrameHeader(bytes: Uint8Array, at: number): FrameHeader | undefined {
  if (bytes.length - at < FRAME_HEADER_BYTES) return undefined;
  const sizeBytes = requestFrameBytes(bytes, at);
  if (sizeBytes === undefined) return undefined;
  return {
    operation: bytes[at + 1] === FRAME_DECODE ? 'decode' : 'encode',
    resolution: bytes[at + 2]!,
    isCells: bytes[at + 3] === FRAME_CELLS,
    count: frameCount(bytes, at),
    sizeBytes,
  };
}

/**
 * Bytes of the answer frames to blocks of frames, as convertInto will write them, from the headers alone.
 * @returns undefined where there are more than `mostFrames` frames
 */
export function framesAnswerBytes(
  job: BulkJob,
  blocks: readonly Uint8Array[],
  mostFrames: number,
): number | undefined {
  let answerBytes = 0;
  let frames = 0;
  for (const block of blocks) {
    for (let at = 0; at < block.length; ) {
      frames++;
      if (frames > mostFrames) return undefined;
      const header = readFrameHeader(block, at);
      if (header === undefined || at + header.sizeBytes > block.length) {
        answerBytes += FRAME_HEADER_BYTES;
        break;
      }
      const isConverted = header.operation === job.operation && job.refusal === undefined;
      answerBytes += isConverted
        ? answerFrameBytes(block.subarray(at, at + header.sizeBytes))
        : FRAME_HEADER_BYTES;
      at += header.sizeBytes;
    }
  }
  return answerBytes;
}

/** An answer frame, with seq 0, of the records or positions in the kernel's output that belong to rows of text. */
export function answerOfRecords(
  operation: Operation,
  output: Uint8Array,
  count: number,
  failed: number,
): Uint8Array {
  const recordBytes = operation === 'encode' ? RECORD_BYTES : POSITION_ANSWER_BYTES;
  const answer = new Uint8Array(FRAME_HEADER_BYTES + count * recordBytes);
  answer[0] = FRAME_VERSION;
  answer[1] = operation === 'encode' ? FRAME_ENCODE : FRAME_DECODE;
  const view = new DataView(answer.buffer);
  view.setUint32(8, count, true);
  view.setUint32(12, failed, true);
  answer.set(output.subarray(0, count * recordBytes), FRAME_HEADER_BYTES);
  return answer;
}
