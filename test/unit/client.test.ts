// The client without a service: records of a stream, and pauses before a retry.
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { HexcodesClient } from '#hexcodes/client';
import { openWorld } from '../support/open-world.js';
import { READING_ROWS } from '../support/vectors.js';

const READY = {
  ...{ type: 'ready', format: 1, max_frame_bytes: 1_310_736, max_points: 65_536, window: 3 },
  window_bytes: 4 * 2 ** 20,
};
const HEADER_BYTES = 16;

/** The records that a client sends for hexcodes, to a service that takes all and goes. */
async function recordsOf(hexcodes: readonly unknown[]): Promise<Uint8Array> {
  const sent: Uint8Array[] = [];
  class Taking extends EventTarget {
    binaryType = '';
    constructor() {
      super();
      queueMicrotask(() => {
        this.dispatchEvent(new Event('open'));
        this.dispatchEvent(new MessageEvent('message', { data: JSON.stringify({ ...READY, window: 100 }) }));
      });
    }
    send(frame: Uint8Array): void {
      sent.push(frame.slice(HEADER_BYTES));
      if (sent.reduce((bytes, { length }) => bytes + length, 0) === 20 * hexcodes.length) this.close();
    }
    close(): void {
      queueMicrotask(() =>
        this.dispatchEvent(Object.assign(new Event('close'), { code: 4001, reason: 'taken' })),
      );
    }
  }
  const client = new HexcodesClient({ baseUrl: 'http://127.0.0.1:1/v1', WebSocket: Taking as never });
  const { readable } = client.stream({ operation: 'decode', source: [hexcodes as string[]] });
  await expect(readable.getReader().read()).rejects.toThrow(
    expect.objectContaining({ code: 'REQUEST_DENIED' }),
  );
  return Buffer.concat(sent);
}

// Texts as records of the binary stream: the kernel reads the record as it reads the text, whatever the spelling.
describe('records', () => {
  const hexcodes = Hexcodes.from(openWorld());
  const CODE = 'DDN-6GHP4-83';

  /** Texts that decode reads from the text and from the record in different ways. */
  async function readOtherwise(texts: readonly string[]): Promise<string[]> {
    const { latLng, resolution, status } = hexcodes.decodeBatch(await recordsOf(texts));
    return texts.filter((text, i) => {
      const read = hexcodes.decode(text);
      if (read === null) return status[i] !== 3;
      return (
        latLng[2 * i] !== read.lat || latLng[2 * i + 1] !== read.lng || resolution[i] !== read.resolution
      );
    });
  }

  test('hexcodes that do not fit a record lose separators only, or become a text that is none', async () => {
    const codes = [
      'HN-6GHMK-53FMF',
      ' HN - 6GHMK - 53FMF ',
      'HN-6-G-H-M-K-5-3-F-M-F',
      'HN6GHMK53FMF',
      'HN-6GHMK-53FMF-23456-78',
      `HN-6GHMK-53FMF${' '.repeat(60)}`,
      'HN-6X\u0000',
    ];
    const records = await recordsOf(codes);
    const texts = codes.map((_, i) =>
      Buffer.from(records.subarray(i * 20, i * 20 + 20))
        .toString('latin1')
        .replace(/\0+$/, ''),
    );
    expect(texts).toEqual('HN-6GHMK-53FMF HN-6GHMK53FMF HN-6GHMK53FMF HN6GHMK53FMF ! ! !'.split(' '));
  });

  test('the recorded spellings', async () => {
    expect(READING_ROWS.length).toBeGreaterThan(50);
    expect(await readOtherwise(READING_ROWS.map(({ text }) => text))).toEqual([]);
  });

  test('every UTF-16 unit, in place of a letter, between symbols, and in a text that is too long for a record', async () => {
    const code = hexcodes.encode(21.0288, 105.8525, 13).hexcodes;
    const ways: ((unit: string) => string)[] = [
      (unit) => unit + code.slice(1),
      (unit) => code.slice(0, 1) + unit + code.slice(1),
      (unit) => code.slice(0, -1) + unit + code.slice(-1),
      (unit) => [...code].join(unit),
      (unit) => ` ${code}${unit}`,
    ];
    let valid = 0;
    for (const way of ways) {
      const texts = Array.from({ length: 0x10000 }, (_, unit) => way(String.fromCharCode(unit)));
      valid += texts.filter((text) => hexcodes.isValid(text)).length;
      expect(await readOtherwise(texts)).toEqual([]);
    }
    // Separators and marks of every kind keep the code.
    expect(valid).toBeGreaterThan(200);
  });

  test('full-width forms, letters with marks and decomposed ones, mixed', async () => {
    const wide = [...CODE].map((unit) => String.fromCharCode(unit.charCodeAt(0) + 0xfee0)).join('');
    const texts = [
      wide,
      wide.toLowerCase(),
      CODE.replace('DD', 'Đđ'),
      CODE.replace('N', 'N\u0303\u0301'),
      `${CODE}\u0301`,
    ];
    expect(await readOtherwise([...texts, 'é'.repeat(64), 'é'.repeat(65), 'D\u0301'.repeat(20)])).toEqual([]);
  });

  test('a value that is no text is a record that is not a hexcode', async () => {
    const odd = [null, undefined, 7, {}, [], Symbol.iterator, 'HN-6GHP4\u0000-83RFR', ''];
    const { status } = hexcodes.decodeBatch(await recordsOf(odd));
    expect([...status]).toEqual(odd.map(() => 3));
  });
});

// The pauses between attempts to connect.
describe('pauses of the stream', () => {
  afterEach(() => void vi.useRealTimers());

  test('pauses double up to two seconds, and 18 attempts outlast a restart of some seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const tries: number[] = [];
    class Refused extends EventTarget {
      constructor() {
        super();
        tries.push(performance.now());
        queueMicrotask(() => this.dispatchEvent(new Event('error')));
      }
      close(): void {}
    }
    const client = new HexcodesClient({
      baseUrl: 'http://127.0.0.1:1/v1',
      WebSocket: Refused as never,
      fetch: () => Promise.reject(new TypeError('fetch failed')),
    });
    const { readable, writable } = client.stream({ operation: 'encode' });
    void writable
      .getWriter()
      .write(Float64Array.of(21, 105))
      .catch(() => {});
    const failed = readable
      .getReader()
      .read()
      .catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await failed).toMatchObject({ code: 'NETWORK' });
    const pauses = tries.slice(1).map((time, i) => time - tries[i]!);
    expect(pauses).toHaveLength(17);
    for (const [i, pause] of pauses.entries()) {
      const full = Math.min(2000, 200 * 2 ** i);
      expect(pause).toBeGreaterThanOrEqual(full / 2 - 1);
      expect(pause).toBeLessThanOrEqual(full + 1);
    }
    expect(pauses.reduce((sum, pause) => sum + pause)).toBeGreaterThan(10_000);
  });
});

// The pauses between the tries of a call: each twice as long as the one before, less some chance, and never shorter
// than the service asks for.
describe('pauses of calls', () => {
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  /** Pauses in ms of a call that is answered with 503. @param chance of Math.random */
  async function pausesOf(chance: number, headers: Record<string, string> = {}): Promise<number[]> {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    vi.spyOn(Math, 'random').mockReturnValue(chance);
    const tries: number[] = [];
    const client = new HexcodesClient({
      baseUrl: 'http://127.0.0.1:1/v1',
      timeoutMs: 3_600_000,
      retries: 4,
      fetch: async () => {
        tries.push(performance.now());
        const body = { status: 'ERROR', error: { code: 'UNAVAILABLE', message: 'later' } };
        return new Response(JSON.stringify(body), { status: 503, headers });
      },
    });
    const failed = client.meta().catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(await failed).toMatchObject({ code: 'UNAVAILABLE' });
    return tries.slice(1).map((time, i) => Math.round(time - tries[i]!));
  }

  test('they double, and chance takes up to half of each', async () => {
    expect(await pausesOf(0)).toEqual([50, 100, 200, 400]);
    vi.useRealTimers();
    expect(await pausesOf(1)).toEqual([100, 200, 400, 800]);
  });

  test('Retry-After is waited for, up to 10 s', async () => {
    expect(await pausesOf(0, { 'retry-after': '2' })).toEqual([2000, 2000, 2000, 2000]);
    vi.useRealTimers();
    expect(await pausesOf(0, { 'retry-after': '3600' })).toEqual([10_000, 10_000, 10_000, 10_000]);
  });
});
