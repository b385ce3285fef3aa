// Log lines: JSON by pino to standard output, without blocking the event loop. Nothing that may contain a key is passed
// to it (no query, path or header); redaction and the mask for keys are further safeguards.
import { type DestinationStream, type Logger, pino } from 'pino';
import type { LogLevel } from '../config/config.js';
import { holdsKey, maskKeyTexts } from '../config/mask.js';
import { VERSION } from '../hexcodes/version.js';
import { readApiKey } from '../hexcodes/wire/params/query.js';
import { LogSink, standardOutput } from './log-sink.js';
import type { Exchange } from './transport/exchange.js';

export type { Logger } from 'pino';

/** Members whose values are not written, whether of a line itself or of an object in it. */
const SECRETS: ReadonlySet<string> = new Set([
  ...['apikey', 'apiKey', 'key', 'secret', 'pepper'],
  ...['query', 'rawQuery', 'headers', 'authorization'],
]);
const CENSORED = '[redacted]';

/** Longer methods, or of other characters, are not named: they may be a key. */
const METHOD = /^[A-Z-]{1,15}$/;

/** A log that takes nothing does not hold up the end of the process for longer. */
const FLUSH_TIMEOUT_MS = 1000;

export interface Log {
  readonly logger: Logger;
  /** Resolves when all lines are written, after a second at the latest. */
  flush(): Promise<void>;
  /** Lines that could not be written, since the start. */
  readonly droppedLines: number;
}

export function openLog(level: LogLevel, to?: DestinationStream): Log {
  const options = {
    level,
    base: { service: 'hexcodes', version: VERSION },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    // pino's own `redact` takes eight times as long as all else that a line costs.
    formatters: { log: (fields: Fields) => withoutSecrets(fields) },
    serializers: { err: (error: Error) => withoutSecrets(pino.stdSerializers.err(error) as Fields) },
  };
  if (to !== undefined) return { logger: pino(options, masked(to)), flush: async () => {}, droppedLines: 0 };
  const sink = new LogSink(standardOutput(), (count) =>
    logger.error({ dropped_lines: count }, `${count} log lines were dropped`),
  );
  const logger = pino(options, masked(sink));
  process.on('exit', () => sink.flushNow());
  return {
    logger,
    flush: () => sink.flush(FLUSH_TIMEOUT_MS),
    get droppedLines() {
      return sink.droppedInAll;
    },
  };
}

type Fields = Record<string, unknown>;

/** The same object, or a copy where a secret is in it or in an object of it. */
function withoutSecrets(fields: Fields, isInner = false): Fields {
  let copy: Fields | undefined;
  for (const name in fields) {
    const value = fields[name];
    const isPlain = typeof value === 'object' && value !== null && !(value instanceof Error);
    const shown = SECRETS.has(name)
      ? CENSORED
      : isPlain && !isInner
        ? withoutSecrets(value as Fields, true)
        : value;
    if (shown === value) continue;
    copy ??= { ...fields };
    copy[name] = shown;
  }
  return copy ?? fields;
}

/** Masks keys in every line, whichever field holds them. */
function masked(to: DestinationStream): DestinationStream {
  return { write: (line) => to.write(maskKeyTexts(line)) };
}

/** Takes `withheld` for the request id if that holds a key, from then on in the answer, too. */
export function withholdKey(x: Exchange): void {
  if (holdsKey(x.requestId, [readApiKey(x.rawQuery), x.apiKey])) x.requestId = 'withheld';
}

/** The method, or `UNKNOWN` if it is none of HTTP's. */
export function methodName(x: Exchange): string {
  return METHOD.test(x.method) ? x.method : 'UNKNOWN';
}
