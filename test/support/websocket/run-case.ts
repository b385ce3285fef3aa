// Runs one case against a server that echoes, over a socket of raw bytes, and judges what came back.
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { CLOSE, closeFrame, type Frame, type WebSocketCase } from './cases.js';

/**
 * `failed fast`: the server had to end the connection, and did so without a close frame. `refused by limit`: the
 * message is larger than the service takes.
 */
export type Verdict = 'pass' | 'failed fast' | 'refused by limit' | 'FAIL';

const PAUSE_MS = 60;
/** How long an end that must come may take, and what must not come is waited for. */
const PATIENCE_MS = 10_000;
const QUIET_MS = 150;

export async function runCase(
  port: number,
  path: string,
  c: WebSocketCase,
  limitBytes: number,
): Promise<Verdict> {
  const peer = await EchoPeer.open(port, path);
  try {
    for (const step of c.steps) {
      if (step === 'pause') await sleep(PAUSE_MS);
      else await peer.send(step);
    }
    if (c.largestBytes > limitBytes) {
      const isRefused =
        (await peer.endsWithin(PATIENCE_MS)) && peer.frames.every(({ opcode }) => opcode === CLOSE);
      return isRefused ? 'refused by limit' : 'FAIL';
    }
    if (c.ends === 'any') {
      await peer.endsWithin(QUIET_MS);
      return 'pass';
    }
    if (c.ends === 'open') {
      await peer.hears(c.due.length);
      await sleep(c.due.length === 0 ? QUIET_MS : 0);
      await peer.send(closeFrame(1000));
    }
    if (!(await peer.endsWithin(PATIENCE_MS))) return 'FAIL';
    return judge(c, peer.frames);
  } finally {
    peer.drop();
  }
}

function judge({ due, ends }: WebSocketCase, frames: readonly Frame[]): Verdict {
  const closes = frames.filter(({ opcode }) => opcode === CLOSE);
  const heard = frames.filter(({ opcode }) => opcode !== CLOSE);
  const isEqual = heard.every((f, i) => f.opcode === due[i]?.opcode && f.payload.equals(due[i].payload));
  if (ends === 'fails') {
    // Frames before the fault may be lost with the connection.
    if (!isEqual || closes.length > 1) return 'FAIL';
    const code = closes[0] === undefined ? undefined : codeOf(closes[0]);
    if (code === undefined) return 'failed fast';
    // A close frame without a code names no wrong one by the suite's rules.
    return code === 1002 || code === 1007 || code === 1005 ? 'pass' : 'FAIL';
  }
  return isEqual && heard.length === due.length && closes.length === 1 ? 'pass' : 'FAIL';
}

const codeOf = ({ payload }: Frame): number => (payload.length >= 2 ? payload.readUInt16BE(0) : 1005);

class EchoPeer {
  readonly frames: Frame[] = [];
  readonly #socket: Socket;
  #parts: Buffer[] = [];
  #isOpen = false;
  #hasEnded = false;
  #onEvent: () => void = () => {};

  private constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.on('data', (bytes) => {
      this.#parts.push(bytes);
      this.#parse();
      this.#onEvent();
    });
    this.#socket.on('error', () => {});
    this.#socket.on('close', () => {
      this.#hasEnded = true;
      this.#onEvent();
    });
  }

  static async open(port: number, path: string): Promise<EchoPeer> {
    const peer = new EchoPeer(port);
    peer.#socket.write(
      `GET ${path} HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    );
    if (!(await peer.#until(() => peer.#isOpen, PATIENCE_MS))) throw new Error('no upgrade');
    return peer;
  }

  /** Sends a segment; a socket that the server has ended takes it and loses it. */
  send(bytes: Buffer): Promise<void> {
    return new Promise((resolve) => {
      if (this.#hasEnded || this.#socket.destroyed) resolve();
      else this.#socket.write(bytes, () => resolve());
    });
  }

  async hears(count: number): Promise<void> {
    await this.#until(() => this.#hasEnded || this.frames.length >= count, PATIENCE_MS);
  }

  endsWithin(waitMs: number): Promise<boolean> {
    return this.#until(() => this.#hasEnded, waitMs);
  }

  drop(): void {
    this.#socket.destroy();
  }

  #until(isSo: () => boolean, waitMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#onEvent = () => {};
        resolve(isSo());
      };
      const timer = setTimeout(done, waitMs);
      this.#onEvent = () => void (isSo() && done());
      this.#onEvent();
    });
  }

  #parse(): void {
    // A frame of some MB comes in many parts: they are joined when its size says that it is whole.
    let sizeBytes = this.#parts.reduce((sum, part) => sum + part.length, 0);
    for (;;) {
      const head = Buffer.concat(
        this.#parts.slice(0, this.#parts[0]!.length >= 10 || this.#parts.length === 1 ? 1 : undefined),
      );
      const needBytes = this.#isOpen ? frameBytes(head) : headBytes(head);
      if (needBytes === undefined || sizeBytes < needBytes) return;
      const all = Buffer.concat(this.#parts);
      if (this.#isOpen) this.frames.push(frameOf(all.subarray(0, needBytes)));
      this.#isOpen = true;
      this.#parts = [all.subarray(needBytes)];
      sizeBytes -= needBytes;
    }
  }
}

function headBytes(bytes: Buffer): number | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  return end < 0 ? undefined : end + 4;
}

/** Bytes of the frame that begins here, once its size has come. */
function frameBytes(bytes: Buffer): number | undefined {
  const size = bytes[1];
  if (size === undefined || bytes.length < (size < 126 ? 2 : size === 126 ? 4 : 10)) return undefined;
  if (size < 126) return 2 + size;
  return size === 126 ? 4 + bytes.readUInt16BE(2) : 10 + Number(bytes.readBigUInt64BE(2));
}

function frameOf(bytes: Buffer): Frame {
  const size = bytes[1]!;
  return { opcode: bytes[0]! & 15, payload: bytes.subarray(size < 126 ? 2 : size === 126 ? 4 : 10) };
}
