// A destination of positions, as their delivery sees it.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Publisher } from '../../../../bus/bus.js';

const LINE_END = 10;
/** Bytes of lines that are parsed before requests have their turn: some 100 µs. */
const TURN_BYTES = 32 * 1024;

/**
 * @param lines whole lines
 * @param each gets a line without its end
 */
export async function eachLine(lines: Buffer, each: (line: Buffer) => void): Promise<void> {
  let turnEnd = TURN_BYTES;
  for (let at = 0; at < lines.length; ) {
    const end = lines.indexOf(LINE_END, at);
    each(lines.subarray(at, end));
    at = end + 1;
    if (at >= turnEnd) {
      turnEnd = at + TURN_BYTES;
      await nextTurn();
    }
  }
}

/** A position as sinks get it: the members of a line of NDJSON, in this order. null: not known. */
export interface PositionRow {
  /** An id that stays however often the position is sent or delivered. */
  readonly id: string;
  readonly unique_id: string;
  readonly name: string | null;
  /** ISO 8601, in UTC, as the two that follow. */
  readonly fix_time: string | null;
  readonly device_time: string | null;
  readonly server_time: string | null;
  readonly lat: number;
  readonly lng: number;
  readonly hexcodes: string | null;
  readonly resolution: number;
  readonly admin_code: string | null;
  readonly status: 'OK' | 'NOT_FOUND';
  readonly speed_kn: number | null;
  readonly course: number | null;
  readonly altitude_m: number | null;
  readonly accuracy_m: number | null;
  readonly valid: boolean | null;
  readonly protocol: string | null;
  readonly attributes: Readonly<Record<string, unknown>> | null;
}

export interface Sink {
  /** Names the sink in sentences, without anything secret. */
  readonly name: string;
  /**
   * Resolves when the sink has all lines. One that does not obey `signal` is left alone at the end of the process.
   * @param lines whole lines of NDJSON, each a PositionRow
   * @param signal gives the delivery up
   */
  deliver(lines: Buffer, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Calls `each` with every row of whole lines, in several turns of the event loop where there are many. */
export function eachRow(lines: Buffer, each: (row: PositionRow, line: Buffer) => void): Promise<void> {
  return eachLine(lines, (line) => each(JSON.parse(line.toString()) as PositionRow, line));
}

// A sink at a URL: each batch is the body of a POST, as NDJSON. Every answer but 2xx means that it has taken nothing.

const ANSWER_TIMEOUT_MS = 30_000;
/** A longer answer is not read: its connection is closed. */
const MAX_ANSWER_BYTES = 65_536;

export class HttpSink implements Sink {
  readonly name: string;
  readonly #headers: Record<string, string>;

  constructor(
    private readonly url: string,
    header: readonly [name: string, value: string] | undefined,
  ) {
    // The path may be a secret, as of webhooks, and so may the query.
    this.name = new URL(url).origin;
    this.#headers = {
      'Content-Type': 'application/x-ndjson',
      ...(header === undefined ? {} : { [header[0]]: header[1] }),
    };
  }

  async deliver(lines: Buffer, signal: AbortSignal): Promise<void> {
    const timeout = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
    const answer = await fetch(this.url, {
      method: 'POST',
      headers: this.#headers,
      body: new Uint8Array(lines),
      redirect: 'manual',
      signal: AbortSignal.any([signal, timeout]),
    }).catch((error: Error) => {
      throw new Error(timeout.aborted ? `no answer within ${ANSWER_TIMEOUT_MS} ms` : causeOf(error));
    });
    const sizeBytes = Number(answer.headers.get('content-length') ?? Number.NaN);
    // Read to its end, the connection can be used again.
    if (sizeBytes <= MAX_ANSWER_BYTES) await answer.arrayBuffer().catch(() => {});
    else await answer.body?.cancel().catch(() => {});
    if (!answer.ok) throw new Error(`it answers ${answer.status}`);
  }

  async close(): Promise<void> {}
}

/** fetch says «fetch failed», and its cause why. */
function causeOf({ message, cause }: Error): string {
  return cause instanceof Error && cause.message !== '' ? cause.message : message;
}

// A sink on NATS JetStream: each position is a message, under its id, so that the server drops a second one of the same
// within the duplicate window of its stream.

export class NatsSink implements Sink {
  #publisher: Promise<Publisher> | undefined;

  constructor(
    readonly name: string,
    private readonly open: () => Promise<Publisher>,
  ) {}

  async deliver(lines: Buffer): Promise<void> {
    const publisher = await this.#opened();
    const messages: { id: string; bytes: Uint8Array }[] = [];
    await eachRow(lines, ({ id }, bytes) => messages.push({ id, bytes }));
    await publisher.publish(messages);
  }

  /** @returns a publisher that is not closed: two refusals of its credentials in a row close one for good */
  async #opened(): Promise<Publisher> {
    if ((await this.#publisher)?.isClosed()) this.#publisher = undefined;
    this.#publisher ??= this.open().catch((error: Error) => {
      this.#publisher = undefined;
      throw error;
    });
    return this.#publisher;
  }

  async close(): Promise<void> {
    await this.#publisher?.then((publisher) => publisher.close()).catch(() => {});
  }
}
