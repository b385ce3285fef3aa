// Log lines: JSON by pino to standard output, without blocking the event loop. Nothing that may contain a key is passed
// to it (no query, path or header); the redaction is a second safeguard.
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

/** No key is shorter. */
const MIN_KEY_LENGTH = 16;

export interface Log {
  readonly logger: Logger;
  /** Writes what is buffered. */
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

/** Logs an answer: 5xx as error, 4xx as info, the others as debug. */
export function logAnswer(logger: Logger, x: Exchange, status: number): void {
  if (status < 400 && !logger.isLevelEnabled('debug')) return;
  const line = { request_id: loggedId(x), method: x.method, route: x.pattern, http_status: status };
  if (status >= 500) logger.error(line, 'answered');
  else if (status >= 400) logger.info(line, 'answered');
  else logger.debug(line, 'answered');
}

/** The request id, or 'withheld' if it contains the key that the same request presents. */
export function loggedId(x: Exchange): string {
  const keys = [readApiKey(x.rawQuery), x.apiKey];
  const holdsKey = keys.some((key) => key && key.length >= MIN_KEY_LENGTH && x.requestId.includes(key));
  return holdsKey ? 'withheld' : x.requestId;
}
