// Counts frames and connections of one subprotocol of the stream.
import { Latency } from './latency.js';

/** An answer could not be sent; answers were not read. */
const ALERTED_CODES = [1011, 1013];

/** Frames and bytes of one connection, both ways. */
export interface StreamTraffic {
  frames: number;
  bytesIn: number;
  bytesOut: number;
}

export class StreamCounts {
  readonly traffic: StreamTraffic = { frames: 0, bytesIn: 0, bytesOut: 0 };
  /** From the arrival of a frame until its answer has left the buffer of uWS. */
  readonly latency = new Latency();
  /** Connections by the code that they were closed with; those on which an alert waits are 0 from the start. */
  readonly closed = new Map<number, number>(ALERTED_CODES.map((code) => [code, 0]));

  /** Counts a frame, of the connection too. */
  add(own: StreamTraffic, sizeBytes: number): void {
    own.frames++;
    own.bytesIn += sizeBytes;
    this.traffic.frames++;
    this.traffic.bytesIn += sizeBytes;
  }

  addSent(own: StreamTraffic, sizeBytes: number): void {
    own.bytesOut += sizeBytes;
    this.traffic.bytesOut += sizeBytes;
  }

  close(code: number): void {
    this.closed.set(code, (this.closed.get(code) ?? 0) + 1);
  }
}
