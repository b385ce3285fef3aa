// Warms the code of calls and batches before the service says that it is ready: the first thousand calls of a node
// behind a balancer would cost several times as much as those behind them. The routes are called over a port of
// 127.0.0.1 that is closed again, by a key that is there meanwhile; nothing of it is counted, logged or stored.
import { connect } from 'node:net';
import { Hexcodes } from '../hexcodes/library/hexcodes.js';
import { givenKey } from './keys/keys.js';
import { makeKeyText } from './keys/secret.js';
import { Ledger } from './ledger/ledger.js';
import { admitRequest } from './ledger/limit-answers.js';
import { openLog } from './log.js';
import { RequestLog } from './observe/request-log.js';
import type { Parts } from './parts.js';
import { DECODE_PATH, ENCODE_PATH, type Router } from './router.js';

const HOST = '127.0.0.1';
/** Calls of each kind: as many as the engine needs to compile what they run. */
const CALLS = { encode: 1200, decode: 300, encodeBatch: 300, decodeBatch: 100 } as const;
/** Positions, in Hà Nội. */
const POINTS = 250;
/** Points of a batch. */
const ITEMS = 10;
/** Requests that are written at once; a turn of the event loop takes 1,000. */
const AT_ONCE = 250;
/** A machine that is busy does not keep a service from its start for longer. */
const TIMEOUT_MS = 3000;
const STATUS_LINE = /HTTP\/1\.1 (\d{3}) /g;

let warmed: Promise<number> | undefined;

/**
 * Resolves to the number of calls that were answered with 200. Never rejects: a service that could not be warmed is
 * slow at first. A process is warmed once, whatever services it starts.
 */
export function warmUp(parts: Parts, router: Router): Promise<number> {
  warmed ??= callRoutes(parts, router);
  return warmed;
}

async function callRoutes(parts: Parts, router: Router): Promise<number> {
  const { config, kernel, observer, adapter, keys, logger } = parts;
  const { ring } = keys;
  const silent = openLog('info', { write: () => {} }).logger;
  const ledger = new Ledger({
    defaults: { pointsPerSecond: 0, requestsPerSecond: 0, pointsPerDay: 0, pointsPerMonth: 0 },
    pointsPerSecond: 0,
    zone: config.quotaTimeZone,
    isOpen: true,
    leaseMs: undefined,
    store: { isAway: false, isSlow: false, hurry: () => {} },
  });
  const text = makeKeyText();
  const key = givenKey('warm-up', ring.digestOf(text));
  ring.change([key]);
  const endings = [
    observer.rehearse(new RequestLog(silent, observer.clients, config.logRequestsPerSecond)),
    router.rehearse((x, info) => admitRequest(ledger, x, info)),
  ];
  try {
    return await adapter.rehearse((port) => callAll(port, requestsOf(new Hexcodes(kernel), text)));
  } catch (error) {
    logger.warn({ err: error }, 'the service could not be warmed: its first calls take longer');
    return 0;
  } finally {
    for (const end of endings) end();
    ring.takeUses();
    ring.change([], [key.id]);
  }
}

/** As GPS gives them. */
const micro = (deg: number): number => Math.round(deg * 1e6) / 1e6;

/** All requests, as they are written. */
function requestsOf(hexcodes: Hexcodes, key: string): string[] {
  const head = `Host: ${HOST}\r\nX-API-Key: ${key}\r\nUser-Agent: hexcodes\r\nAccept: */*\r\n`;
  const get = (target: string): string => `GET ${target} HTTP/1.1\r\n${head}\r\n`;
  const post = (path: string, body: string): string =>
    `POST ${path}/batch HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const points = Array.from(
    { length: POINTS },
    (_, n) => [micro(21 + n / 7001), micro(105.8 + n / 9001)] as const,
  );
  const items = points.slice(0, ITEMS).map(([lat, lng], id) => ({ id, lat, lng }));
  const codes = points.map(([lat, lng], id) => ({ id, hexcodes: hexcodes.encode(lat, lng).hexcodes }));
  const [encode, decode] = [{ points: items }, { hexcodes: codes.slice(0, ITEMS) }].map((each) =>
    JSON.stringify(each),
  ) as [string, string];
  const times = <Item>(count: number, of: (n: number) => Item): Item[] =>
    Array.from({ length: count }, (_, n) => of(n % POINTS));
  return [
    ...times(CALLS.encode, (n) => get(`${ENCODE_PATH}?lat=${points[n]![0]}&lng=${points[n]![1]}`)),
    ...times(CALLS.decode, (n) => get(`${DECODE_PATH}?hexcodes=${codes[n]!.hexcodes}`)),
    ...times(CALLS.encodeBatch, () => post(ENCODE_PATH, encode)),
    ...times(CALLS.decodeBatch, () => post(DECODE_PATH, decode)),
  ];
}

/** Sends all requests over one connection, some at once. @returns the number of those that were answered with 200 */
function callAll(port: number, requests: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, HOST);
    const timer = setTimeout(() => socket.destroy(new Error(`not done in ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
    let [sent, answered, ok] = [0, 0, 0];
    let text = '';
    const sendNext = (): void => {
      socket.write(requests.slice(sent, sent + AT_ONCE).join(''));
      sent = Math.min(requests.length, sent + AT_ONCE);
    };
    socket.setEncoding('latin1').on('connect', sendNext);
    socket.on('data', (more: string) => {
      text += more;
      for (const [, status] of text.matchAll(STATUS_LINE)) {
        answered++;
        if (status === '200') ok++;
      }
      // A status line may come in two pieces.
      text = /H[TP/.1 0-9]*$/.exec(text)?.[0] ?? '';
      if (answered < sent) return;
      if (sent < requests.length) sendNext();
      else socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => {
      clearTimeout(timer);
      if (answered === requests.length) resolve(ok);
      else reject(new Error(`${answered} of ${requests.length} calls were answered`));
    });
  });
}
