// Starts and stops the service. serve() resolves when requests are accepted. stop() closes the listener, waits until
// streams and answers are done or the grace period is over, then closes everything else. Signals and exit codes are the
// command's (cli/commands/serve.ts).

import { connect } from 'node:net';
import type { ServeConfig } from '../config/config.js';
import { Hexcodes } from '../hexcodes/library/hexcodes.js';
import { DECODE_PATH, ENCODE_PATH, type Router } from './http/router.js';
import { givenKey } from './keys/keys.js';
import { makeKeyText } from './keys/secret.js';
import { Ledger } from './ledger/ledger.js';
import { admission } from './ledger/limit-answers.js';
import { addServiceRoutes, listen } from './lifecycle/listen.js';
import {
  finishAnswers,
  OpenParts,
  type Parts,
  type ProcessInfo,
  type ServedData,
  type ServeTuning,
} from './lifecycle/parts.js';
import { type Log, openLog } from './observe/log.js';
import { RequestLog } from './observe/request-log.js';
import type { UwsBuild } from './transport/load-uws.js';

// Calls each route of calls and batches once before the service says that it is ready: the first call of a node behind
// a balancer would pay for parsing and compiling what it runs, some milliseconds. More calls here do not pay: 1,900
// took 130 ms of CPU more, and the first thousand calls after them cost as much as after these, since V8 optimizes a
// function for what runs then (`npm run bench -- cold`). The routes are called over a port of 127.0.0.1 that is closed
// again, by a key that is there meanwhile; nothing of it is counted, logged or stored.

const HOST = '127.0.0.1';
/** Points of a batch, in Hà Nội. */
const ITEMS = 10;
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
    router.rehearse(admission(ledger)),
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
  const items = Array.from({ length: ITEMS }, (_, id) => ({
    ...{ id, lat: micro(21 + id / 7001), lng: micro(105.8 + id / 9001) },
  }));
  const codes = items.map(({ id, lat, lng }) => ({ id, hexcodes: hexcodes.encode(lat, lng).hexcodes }));
  const [{ lat, lng }, { hexcodes: code }] = [items[0]!, codes[0]!];
  return [
    get(`${ENCODE_PATH}?lat=${lat}&lng=${lng}`),
    get(`${DECODE_PATH}?hexcodes=${code}`),
    post(ENCODE_PATH, JSON.stringify({ points: items })),
    post(DECODE_PATH, JSON.stringify({ hexcodes: codes })),
  ];
}

/** Sends all requests over one connection. @returns the number of those that were answered with 200 */
function callAll(port: number, requests: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, HOST);
    const timer = setTimeout(() => socket.destroy(new Error(`not done in ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
    let text = '';
    const statuses = (): string[] => [...text.matchAll(STATUS_LINE)].map(([, status]) => status!);
    socket.setEncoding('latin1').on('connect', () => socket.write(requests.join('')));
    socket.on('data', (more: string) => {
      text += more;
      if (statuses().length === requests.length) socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => {
      clearTimeout(timer);
      const answered = statuses();
      if (answered.length < requests.length)
        reject(new Error(`${answered.length} of ${requests.length} calls were answered`));
      else resolve(answered.filter((status) => status === '200').length);
    });
  });
}

export type { ProcessInfo, ServeTuning } from './lifecycle/parts.js';

export interface Service {
  readonly port: number;
  readonly adminPort: number;
  /** Path of the file with the text of the first key, if there is one. */
  readonly firstKeyFile: string | undefined;
  /** The build of uWebSockets.js that serves. */
  readonly transport: UwsBuild;
  /** Stops the service; a second call waits for the same stop. */
  stop(): Promise<void>;
}

/**
 * Starts the service; rejects with a message for people, once everything opened so far is closed.
 * @param processInfo undefined: this process has the port for itself
 */
export async function serve(
  config: ServeConfig,
  files: ServedData,
  log: Log = openLog(config.logLevel),
  tuning: ServeTuning = {},
  processInfo?: ProcessInfo,
): Promise<Service> {
  const logger = processInfo === undefined ? log.logger : log.logger.child({ process: processInfo.number });
  const open = new OpenParts(config, logger, tuning);
  try {
    const parts = await open.open(files, processInfo);
    const { adapter, keys, readiness } = parts;
    const routes = addServiceRoutes(parts, open.steps);
    const [warmedCalls] = await Promise.all([warmUp(parts, routes.router), parts.pool.start()]);
    const { port, admin } = await listen(parts, routes, open, log, processInfo, warmedCalls);

    let stopped: Promise<void> | undefined;
    const stop = async (): Promise<void> => {
      await finishAnswers(adapter, config, open.steps, readiness, logger);
      await open.close();
      logger.info({ requests: adapter.requestCount, frames: routes.streams.frameCount }, 'stopped');
      await log.flush();
    };
    return {
      port,
      adminPort: admin.port,
      transport: adapter.build,
      firstKeyFile: keys.firstKeyFile,
      stop: () => {
        stopped ??= stop();
        return stopped;
      },
    };
  } catch (error) {
    await open.close();
    await log.flush();
    throw error;
  }
}
