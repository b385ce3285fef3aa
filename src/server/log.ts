// Log lines: JSON by pino to standard output, without blocking the event loop. Nothing that may contain a key is passed
// to it (no query, path or header); the redaction is a second safeguard.
import { type DestinationStream, type Logger, pino } from 'pino';
import type { LogLevel } from '../config.js';
import { VERSION } from '../version.js';
import { readApiKey } from '../wire/params/query.js';
import { LogSink, standardOutput } from './log-sink.js';
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

/** A log that takes nothing does not hold up the end of the process for longer. */
const FLUSH_TIMEOUT_MS = 1000;

export interface Log {
  readonly logger: Logger;
  /** Resolves when all lines are written, after a second at the latest. */
  flush(): Promise<void>;
}

export function openLog(level: LogLevel, to?: DestinationStream): Log {
  const options = {
    level,
    base: { service: 'hexcodes', version: VERSION },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    redact: { paths: SECRETS.flatMap((name) => [name, `*.${name}`]), censor: '[redacted]' },
  };
  if (to !== undefined) return { logger: pino(options, to), flush: async () => {} };
  const sink = new LogSink(standardOutput(), (count) =>
    logger.error({ dropped_lines: count }, `${count} log lines were dropped`),
  );
  const logger = pino(options, sink);
  process.on('exit', () => sink.flushNow());
  return { logger, flush: () => sink.flush(FLUSH_TIMEOUT_MS) };
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
