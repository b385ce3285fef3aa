// GET /v1/hexcodes/stream: accepts a WebSocket handshake or answers it in HTTP (docs/stream.md, Opening). Sweeps all
// sessions periodically and closes those that are idle or stalled, and those whose key is no longer active.

import type { Kernel } from '../../hexcodes/kernel/kernel.js';
import { ByteSink } from '../../hexcodes/wire/bytes/byte-sink.js';
import {
  answerCounts,
  answerFrame,
  frameCount,
  framePoints,
  refusedFrame,
} from '../../hexcodes/wire/frames/answer-frame.js';
import { OVERLOADED_MESSAGE } from '../../hexcodes/wire/job.js';
import {
  FRAME_OVER_LIMIT,
  FRAME_OVERLOADED,
  MAX_FRAME_BYTES,
  MAX_FRAME_POINTS,
} from '../../hexcodes/wire/limits.js';
import { MIN_ITEM_BYTES } from '../../hexcodes/wire/rows/batch.js';
import { answerAllowed, overloadedJsonFrame } from '../../hexcodes/wire/rows/json-frame.js';
import type { Pool } from '../../pool/pool.js';
import type { Exchange } from '../http/exchange.js';
import type { Observer } from '../http/observer.js';
import { INLINE_JSON_BYTES, isInlineFrame, itemsAllowance } from '../http/offload.js';
import { fail, failUnavailable, type Route, type Router, type SocketRoute } from '../http/router.js';
import type { KeyInfo } from '../keys/key-record.js';
import type { KeyRing, OpenWork } from '../keys/key-ring.js';
import type { Entry } from '../ledger/ledger.js';
import { failOverLimit } from '../ledger/limit-answers.js';
import { type LimitRefusal, WAIT } from '../ledger/rates.js';
import { withholdKey } from '../observe/log.js';
import type { OpenStreams } from '../observe/metrics/service-metrics.js';
import type { SocketData } from '../transport/adapter.js';
import type { Account, Budget } from '../transport/limits.js';
import { type FrameAnswerer, OVER_QUOTA, STREAM_TIMES, StreamSession, type StreamTimes } from './session.js';

// How frames of the two subprotocols are answered: small ones by the kernel of this thread, large ones by the pool, in
// the turn of their key. Points over a limit of the key are refused before their work, and all others counted.

function binaryAnswerer(kernel: Kernel, pool: Pool, keyId: string, entry: Entry | undefined): FrameAnswerer {
  /** Answers a frame whose points are refused. */
  const refused = (
    frame: Uint8Array,
    points: number,
    { kind }: LimitRefusal,
  ): Uint8Array | typeof OVER_QUOTA => {
    entry?.refuse(points);
    if (kind === 'quota') return OVER_QUOTA;
    return refusedFrame(frame, kind === 'rate' ? FRAME_OVER_LIMIT : FRAME_OVERLOADED);
  };
  const settle = (reserved: number, answer: Uint8Array): void => {
    const { total, failed } = answerCounts(answer);
    entry?.done(total - failed, failed, reserved);
  };
  return {
    isBinary: true,
    isSmall: (frame) => isInlineFrame(frameCount(frame)),
    // In the kernel's own memory: the socket copies what it cannot send at once.
    answerNow: (frame) => {
      const points = framePoints(frame);
      const refusal = entry?.admit(points);
      if (refusal === WAIT) return undefined;
      if (refusal !== undefined) return refused(frame, points, refusal);
      const answer = answerFrame(kernel, frame, kernel.textOut);
      settle(points, answer);
      return answer;
    },
    answerLater: async (given) => {
      const points = framePoints(given);
      let frame = given;
      let refusal = entry?.admit(points);
      if (refusal === WAIT) {
        frame = given.slice();
        refusal = await (entry as Entry).whenAdmitted(points);
      }
      if (refusal !== undefined) return refused(frame, points, refusal);
      const overloaded = refusedFrame(frame, FRAME_OVERLOADED);
      const answer = await pool.answerFrame(frame, keyId).catch(() => overloaded);
      settle(points, answer);
      return answer;
    },
    giveBack: (answer) => pool.giveBack(answer),
  };
}

/** @param sink of all sessions: it is empty between two frames */
function jsonAnswerer(
  kernel: Kernel,
  pool: Pool,
  keyId: string,
  entry: Entry | undefined,
  sink: ByteSink,
): FrameAnswerer {
  /** Answers by the pool, with as many points as are reserved; a frame that has more comes again with its count. */
  const answerByPool = async (
    frame: Uint8Array,
    reserved: number,
    isBound: boolean,
  ): Promise<Uint8Array | typeof OVER_QUOTA> => {
    const answer = await pool.answerJsonFrame(frame, overloadedJsonFrame, keyId, reserved);
    const { bytes, total, failed, refused } = answer;
    if (isBound) entry?.doneWithin(reserved, total - failed, failed);
    else entry?.done(total - failed, failed, reserved);
    if (refused === 0 || entry === undefined) return bytes;
    const refusal = await entry.whenAdmitted(refused);
    if (refusal === undefined) return answerByPool(frame, refused, false);
    entry.refuse(refused);
    return refusal.kind === 'quota' ? OVER_QUOTA : bytes;
  };
  return {
    isBinary: false,
    isSmall: (frame) => frame.length <= INLINE_JSON_BYTES,
    // How many points a frame has is known only after it is read, so a bound is reserved.
    answerNow: (frame) => {
      const bound = maxPoints(frame);
      const reserved = entry?.admitUpTo(bound) ?? bound;
      if (typeof reserved !== 'number') return undefined;
      const answer = answerAllowed(kernel, frame, sink, itemsAllowance(), reserved);
      const { total, failed, refused } = answer ?? { total: 0, failed: 0, refused: 0 };
      entry?.doneWithin(reserved, total - failed, failed);
      return refused > 0 ? undefined : answer?.bytes;
    },
    answerLater: async (given) => {
      if (!pool.mayTakeBlock(keyId)) return overloadedJsonFrame(given);
      const bound = maxPoints(given);
      const reserved = entry?.admitUpTo(bound) ?? bound;
      if (reserved === bound) return answerByPool(given, reserved, true);
      const frame = given.slice();
      if (typeof reserved === 'number') return answerByPool(frame, reserved, true);
      const outcome = reserved === WAIT ? await (entry as Entry).whenAdmittedUpTo(bound) : reserved;
      if (typeof outcome === 'number') return answerByPool(frame, outcome, true);
      // Its answer names the frame, and the number of its points is counted.
      const { bytes, refused } = await pool.answerJsonFrame(frame, overloadedJsonFrame, keyId, 0);
      entry?.refuse(refused);
      // A frame without points, or that cannot be read, is answered whatever is left.
      return outcome.kind === 'quota' && refused > 0 ? OVER_QUOTA : bytes;
    },
    giveBack: (answer) => pool.giveBack(answer),
  };
}

function maxPoints(frame: Uint8Array): number {
  return Math.min(MAX_FRAME_POINTS, Math.floor(frame.length / MIN_ITEM_BYTES));
}

const STREAM_PATH = '/v1/hexcodes/stream';

/** The first of the client's offers that is listed here is taken. */
const SUBPROTOCOLS = ['hexcodes.v1.binary', 'hexcodes.v1.json'] as const;
type Subprotocol = (typeof SUBPROTOCOLS)[number];

/**
 * Twice the documented limit, so that a frame over that one is closed with 1009 and not by uWS (transport/README U32).
 * uWS may buffer this much of an incomplete frame for each socket.
 */
const MAX_PAYLOAD_BYTES = 2 * MAX_FRAME_BYTES;
/** Never reached: a session sends nothing more once there is backpressure. */
const MAX_BACKPRESSURE_BYTES = 64 * 1024 * 1024;
/** uWS's own idle timeout, above ours: ends connections whose peer never answers the closing frame. */
const UWS_IDLE_SECONDS = 960;
/** Sixteen bytes in base64 (RFC 6455, 4.1). */
const HANDSHAKE_KEY = /^[A-Za-z0-9+/]{22}==$/;
const BAD_HANDSHAKE_KEY = 'the header Sec-WebSocket-Key must be sixteen bytes in base64';
const SWITCHING_PROTOCOLS = 101;
const UPGRADE_WANTED = '\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13';

export interface StreamTuning extends StreamTimes {
  readonly sweepMs: number;
}

interface Connection extends SocketData {
  /** Request id of the handshake. */
  readonly requestId: string;
  readonly client: string;
  readonly openedMs: number;
  readonly key: KeyInfo;
  readonly work: OpenWork;
  readonly entry: Entry | undefined;
  readonly account: Account;
  readonly subprotocol: Subprotocol;
  session: StreamSession | undefined;
}

interface StreamDeps {
  readonly router: Pick<Router, 'workOf'>;
  readonly kernel: Kernel;
  readonly pool: Pool;
  readonly keys: { readonly ring: KeyRing };
  readonly budget: Budget;
  readonly observer: Observer;
  readonly tuning: { readonly stream?: Partial<StreamTuning> };
}

export class Streams {
  readonly #connections = new Set<Connection>();
  readonly #answerers: Readonly<
    Record<Subprotocol, (keyId: string, entry: Entry | undefined) => FrameAnswerer>
  >;
  readonly #tuning: StreamTuning;
  readonly #timer: NodeJS.Timeout;
  #isStopping = false;
  #onAllClosed: (() => void) | undefined;

  constructor(private readonly deps: StreamDeps) {
    const { kernel, pool, keys, observer, tuning } = deps;
    for (const subprotocol of SUBPROTOCOLS) observer.streamOf(subprotocol);
    this.#tuning = { ...STREAM_TIMES, sweepMs: 1000, ...tuning.stream };
    const sink = new ByteSink();
    this.#answerers = {
      'hexcodes.v1.binary': (keyId, entry) => binaryAnswerer(kernel, pool, keyId, entry),
      'hexcodes.v1.json': (keyId, entry) => jsonAnswerer(kernel, pool, keyId, entry, sink),
    };
    this.#timer = setInterval(() => this.#sweep(), this.#tuning.sweepMs);
    this.#timer.unref();
    keys.ring.onChange(() => this.#sweep());
  }

  get routes(): Route[] {
    const { observer } = this.deps;
    const socket: SocketRoute<Connection> = {
      maxPayloadBytes: MAX_PAYLOAD_BYTES,
      maxBackpressureBytes: MAX_BACKPRESSURE_BYTES,
      idleTimeoutSeconds: UWS_IDLE_SECONDS,
      upgrade: (x, key) => this.#upgrade(x, key),
      open: (ws) => {
        const connection = ws.getUserData();
        this.#connections.add(connection);
        const { key, subprotocol } = connection;
        connection.session = new StreamSession({
          peer: ws,
          answerer: this.#answerers[subprotocol](key.id, connection.entry),
          account: connection.account,
          nowMs: performance.now(),
          onClose: () => this.#forget(connection),
          counts: observer.streamOf(subprotocol),
        });
      },
      message: (ws, message, isBinary, isTurnSpent) =>
        ws.getUserData().session?.take(message, isBinary, performance.now(), isTurnSpent),
      pong: (ws) => ws.getUserData().session?.pong(performance.now()),
      drain: (ws) => ws.getUserData().session?.drained(performance.now()),
      close: (ws, code) => {
        const connection = ws.getUserData();
        connection.session?.gone();
        connection.account.close();
        this.#closed(connection, code);
      },
    };
    return [
      {
        path: STREAM_PATH,
        access: 'bulk',
        operation: 'stream',
        handle: answerPlainGet,
        socket,
      },
    ];
  }

  /** Open connections of each subprotocol, with the frames in their windows. */
  get figures(): OpenStreams {
    const figures = new Map<string, { connections: number; frames: number; bytes: number }>();
    for (const { subprotocol, session } of this.#connections) {
      const sum = figures.get(subprotocol) ?? { connections: 0, frames: 0, bytes: 0 };
      sum.connections++;
      sum.frames += session?.window.frames ?? 0;
      sum.bytes += session?.window.bytes ?? 0;
      figures.set(subprotocol, sum);
    }
    return figures;
  }

  /** Frames taken so far on all connections. */
  get frameCount(): number {
    return SUBPROTOCOLS.reduce((sum, name) => sum + this.deps.observer.streamOf(name).traffic.frames, 0);
  }

  /** Refuses new connections and closes the open ones, each after its last answer; resolves when all are closed. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const connection of [...this.#connections]) connection.session?.stop();
    if (this.#connections.size > 0) await new Promise<void>((resolve) => (this.#onAllClosed = resolve));
    clearInterval(this.#timer);
  }

  #upgrade(x: Exchange, key: KeyInfo): void {
    const asks = (header: string, option: string): boolean =>
      membersOf(x, header).some((member) => member.toLowerCase() === option);
    const isAsked = asks('connection', 'upgrade') && asks('upgrade', 'websocket');
    if (!isAsked || x.head.header('sec-websocket-version').trim() !== '13') {
      fail(x, 426, 'the handshake must ask for WebSocket version 13', { headerLines: UPGRADE_WANTED });
      return;
    }
    if (!hasHandshakeKey(x)) {
      fail(x, 400, BAD_HANDSHAKE_KEY);
      return;
    }
    // Its bytes would be read as frames.
    if (x.head.bodySizeBytes !== 0) {
      fail(x, 400, 'a handshake has no body');
      return;
    }
    const offers = membersOf(x, 'sec-websocket-protocol');
    const subprotocol = offers.find(isSubprotocol);
    if (offers.length > 0 && subprotocol === undefined) {
      fail(x, 400, `none of the subprotocols offered is known; there are ${SUBPROTOCOLS.join(' and ')}`);
      return;
    }
    if (this.#isStopping || !this.deps.pool.mayTakeBlock(key.id)) {
      const message = this.#isStopping ? 'the service is restarting' : OVERLOADED_MESSAGE;
      failUnavailable(x, message, this.#isStopping);
      return;
    }
    const overQuota = x.notes.entry?.key.quotaRefusal();
    if (overQuota !== undefined) {
      failOverLimit(x, overQuota);
      return;
    }
    if (x.head.hasGivenId) withholdKey(x);
    const connection: Connection = {
      requestId: x.head.requestId,
      client: this.deps.observer.clients.of(x),
      openedMs: performance.now(),
      key,
      work: this.deps.router.workOf(x, key, 'bulk'),
      entry: x.notes.entry,
      account: this.deps.budget.open(key.id, 'sockets'),
      subprotocol: subprotocol ?? 'hexcodes.v1.json',
      session: undefined,
      turn: undefined,
    };
    x.onOver = () => {
      if (!x.isComplete) connection.account.close();
    };
    x.notes.entry?.end(SWITCHING_PROTOCOLS);
    x.acceptUpgrade(connection, subprotocol ?? '');
  }

  #sweep(): void {
    const nowMs = performance.now();
    for (const connection of [...this.#connections]) {
      const { fault } = connection.work;
      if (fault !== undefined) connection.session?.close(4001, fault.message);
      else connection.session?.sweep(nowMs, this.#tuning);
    }
  }

  /** The peer's code where the service has sent none. */
  #closed(connection: Connection, peersCode: number): void {
    const { session, subprotocol, requestId, key, client, entry, openedMs } = connection;
    const points = entry?.points ?? 0;
    const traffic = session?.traffic ?? { frames: 0, bytesIn: 0, bytesOut: 0 };
    this.deps.observer.streamClosed(subprotocol, {
      requestId,
      keyId: key.id,
      client,
      points,
      ...traffic,
      route: STREAM_PATH,
      code: session?.closeCode ?? peersCode,
      isPeersCode: session?.closeCode === undefined,
      openMs: performance.now() - openedMs,
    });
  }

  #forget(connection: Connection): void {
    this.#connections.delete(connection);
    if (this.#isStopping && this.#connections.size === 0) this.#onAllClosed?.();
  }
}

/** Answers a GET that is not a handshake to uWS, for instance for the length of its key (transport/README U16). */
function answerPlainGet(x: Exchange): void {
  const isUpgrade = x.head.header('upgrade').toLowerCase() === 'websocket';
  if (isUpgrade && x.head.header('sec-websocket-version').trim() === '13' && !hasHandshakeKey(x)) {
    fail(x, 400, BAD_HANDSHAKE_KEY);
  } else {
    fail(x, 426, 'this is a WebSocket endpoint', { headerLines: UPGRADE_WANTED });
  }
}

/** The members of all lines of a header. */
function membersOf(x: Exchange, header: string): string[] {
  const lines = x.head.headerValues(header);
  return lines.flatMap((line) => line.split(',')).map((member) => member.trim());
}

function hasHandshakeKey(x: Exchange): boolean {
  return HANDSHAKE_KEY.test(x.head.header('sec-websocket-key').trim());
}

function isSubprotocol(offer: string): offer is Subprotocol {
  return (SUBPROTOCOLS as readonly string[]).includes(offer);
}
