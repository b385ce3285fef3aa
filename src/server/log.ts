// Log lines: JSON by pino on standard output, written without blocking the event loop. Nothing that may hold a key is
// handed to it (no query, no path, no header); the redaction is the second lock on the same door.
import { type DestinationStream, destination, type Logger, pino } from 'pino';
import type { LogLevel } from '../config.js';
import { VERSION } from '../version.js';
import { readApiKey } from '../wire/params/query.js';
import type { Exchange } from './transport/exchange.js';

export type { Logger } from 'pino';

const SECRETS = [
  'apikey',
  'apiKey',
  'key',
  'secret',
  'pepper',
  'query',
  'rawQuery',
  'headers',
  'authorization',
];

/** Shorter texts are no keys of ours. */
const LEAST_SECRET_LENGTH = 16;

export interface Log {
  readonly logger: Logger;
  /** Writes out what is buffered. */
  flush(): void;
}

export function openLog(level: LogLevel, to?: DestinationStream): Log {
  const options = {
    level,
    base: { service: 'hexcodes', version: VERSION },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    redact: { paths: SECRETS.flatMap((name) => [name, `*.${name}`]), censor: '[redacted]' },
  };
  if (to !== undefined) return { logger: pino(options, to), flush: () => {} };
  const stream = destination({ dest: 1, sync: false });
  return { logger: pino(options, stream), flush: () => stream.flushSync() };
}

/** One line for an answer: refusals at info, faults of ours at error, everything else at debug. */
export function logAnswer(logger: Logger, x: Exchange, status: number): void {
  if (status < 400 && !logger.isLevelEnabled('debug')) return;
  const line = { request_id: loggedId(x), method: x.method, route: x.pattern, http_status: status };
  if (status >= 500) logger.error(line, 'answered');
  else if (status >= 400) logger.info(line, 'answered');
  else logger.debug(line, 'answered');
}

/** The request id, unless it holds the key that the same request presents: then nothing of it. */
export function loggedId(x: Exchange): string {
  const keys = [readApiKey(x.rawQuery), x.apiKey];
  const holdsKey = keys.some((key) => key && key.length >= LEAST_SECRET_LENGTH && x.requestId.includes(key));
  return holdsKey ? 'withheld' : x.requestId;
}
