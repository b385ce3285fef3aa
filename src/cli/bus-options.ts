// Options that the commands of the message bus share: subjects and streams, and how to read messages.
import type { Command } from 'commander';
import type { StreamNames } from '../bus/bus.js';
import { EngineFault } from '../bus/engine.js';
import {
  DEFAULT_RULES,
  type PositionPaths,
  type ReadingRules,
  readFormatRule,
} from '../bus/messages/message-shape.js';
import { BUSES, type BusKind, kindOfBus } from '../bus/open-bus.js';
import { requirePattern, SubjectFault, SubjectMap } from '../bus/subjects.js';
import { readServers } from '../config/bus.js';
import { BUS_NAMES, type BusConfig } from '../config/config.js';
import { Fault } from '../config/setting.js';
import { badUsage, CliFailure, EXIT } from '../files/exit-codes.js';
import { requireResolution } from '../files/request.js';
import { say, visible } from '../files/terminal/say.js';
import { gathered } from './conversion-options.js';
import { addFlags, settingsOf } from './settings.js';

// Ctrl-C and SIGTERM in long-running commands: the first orders a stop, a second ends the process.
const NAMES = ['SIGINT', 'SIGTERM'] as const;

export class StopSignal {
  readonly #controller = new AbortController();
  readonly #listener = (signal: NodeJS.Signals): void => {
    if (this.signal.aborted) process.exit(signal === 'SIGINT' ? EXIT.INTERRUPTED : EXIT.TERMINATED);
    this.#controller.abort();
  };

  constructor() {
    for (const name of NAMES) process.on(name, this.#listener);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Calls it at once if the order has already come. */
  onStop(stop: () => void): void {
    if (this.signal.aborted) stop();
    else this.signal.addEventListener('abort', stop, { once: true });
  }

  end(): void {
    for (const name of NAMES) process.off(name, this.#listener);
  }
}

const SIZE_UNITS: Readonly<Record<string, number>> = {
  '': 1,
  k: 2 ** 10,
  m: 2 ** 20,
  g: 2 ** 30,
  t: 2 ** 40,
};
const TIME_UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Bytes: a number, and K, M, G or T of 1,024 each. */
export function requireSize(flag: string, text: string): number {
  const [, number = '', unit = ''] = /^(\d{1,9}(?:\.\d+)?)([kmgt]?)$/i.exec(text) ?? [];
  const sizeBytes = Math.round(Number(number) * SIZE_UNITS[unit.toLowerCase()]!);
  if (number === '' || sizeBytes < 1) throw badUsage(`${flag} ${text}: must be a size, as 512M or 10G`);
  return sizeBytes;
}

/** Longest time on a bus, whose nanoseconds are 64-bit integers. */
const MAX_DAYS = 36_500;
/** Longest time of a timer: a longer one fires at once. */
export const MAX_TIMER_DAYS = 24;

/** Milliseconds: a number and ms, s, m, h or d. */
export function requireTime(flag: string, text: string, maxDays = MAX_DAYS): number {
  const [, number = '', unit = ''] = /^(\d{1,9}(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  const ms = Math.round(Number(number) * (TIME_UNITS[unit] ?? 0));
  const isLong = ms > maxDays * TIME_UNITS.d!;
  if (number !== '' && ms >= 1 && !isLong) return ms;
  const most = isLong ? `, and at most ${maxDays}d` : '';
  throw badUsage(`${flag} ${text}: must be a time, as 500ms, 5s, 24h or 7d${most}`);
}

/** Default prefix of the subjects of collected frames. */
export const COLLECTED_SUBJECT = 'hexcodes.in.collected';
/** Default name of the micro service, also the prefix of its endpoints' subjects. */
export const SERVICE_NAME = 'hexcodes';

export interface StreamOptions {
  readonly from?: string;
  readonly map?: string[];
  readonly stream: string;
  readonly answers: string;
  readonly dead: string;
  readonly deadSubject: string;
  readonly consumer: string;
}

export function addStreamOptions(command: Command): Command {
  return addFlags(command, BUS_NAMES)
    .option('--from <address>', 'the bus: kafka://host:9092,other:9092, kafka+tls://… or nats://… (--nats)')
    .option(
      '--map <from=to>',
      `subjects or topics of messages and of their answers, may be given several times (${Object.values(BUSES)
        .map(({ map }) => map)
        .join('; ')})`,
      gathered,
    )
    .option('--stream <name>', 'stream of the messages', 'HEXCODES_IN')
    .option('--answers <name>', 'stream of the answers', 'HEXCODES_OUT')
    .option('--dead <name>', 'stream of the dead letters', 'HEXCODES_DEAD')
    .option(
      '--dead-subject <words>',
      'before the subjects of dead letters; their topic on Kafka',
      'hexcodes.dead',
    )
    .option(
      '--consumer <name>',
      'consumer of the stream, or group of Kafka, which all workers share',
      'hexcodes',
    );
}

export const namesOf = ({ stream, answers, dead, consumer }: StreamOptions): StreamNames => ({
  input: stream,
  output: answers,
  dead,
  consumer,
});

/** The first words of subjects, without wildcards. */
export function requireSubject(flag: string, text: string): string {
  const isWild = usage(() => requirePattern(text)).some((word) => word === '*' || word === '>');
  if (isWild) throw badUsage(`${flag} ${text}: must have neither * nor >`);
  return text;
}

/** @throws CliFailure for an address that belongs to no bus */
export function busOf(from: string | undefined): BusKind {
  const kind = kindOfBus(from);
  if (kind === undefined)
    throw badUsage(`--from ${from}: must begin with nats://, tls://, kafka:// or kafka+tls://`);
  return kind;
}

export function mapsOf({ from, map, deadSubject }: StreamOptions): SubjectMap[] {
  return usage(() => {
    requireSubject('--dead-subject', deadSubject);
    return (map ?? [busOf(from).map]).map((text) => new SubjectMap(text));
  });
}

export interface ReadingOptions {
  readonly as?: string[];
  readonly decode?: boolean;
  readonly resolution?: string;
  readonly columns: string;
  readonly prefix: string;
  readonly schemaRegistry?: string;
  readonly lat?: string;
  readonly lng?: string;
}

/** Paths of positions in JSON objects. */
export function addPathOptions(command: Command): Command {
  return command
    .option(
      '--lat <path>',
      'where JSON objects hold the latitude, as state.gps.lat; without --lng the whole position: a text, [lat, lng] or GeoJSON (the usual names)',
    )
    .option('--lng <path>', 'where they hold the longitude');
}

export function pathsOf({ lat, lng }: Pick<ReadingOptions, 'lat' | 'lng'>): PositionPaths | undefined {
  if (lat === undefined && lng !== undefined) throw badUsage('--lng needs --lat');
  return lat === undefined ? undefined : { lat, lng };
}

export function addReadingOptions(command: Command): Command {
  return addPathOptions(command)
    .option(
      '--as <pattern=format>',
      'format of the messages of these subjects that have no header Hexcodes-Format: frames, ndjson, csv, json, avro (frames)',
      gathered,
    )
    .option('--schema-registry <url>', 'registry of the schemas of Avro, whose answers are JSON')
    .option('--decode', 'CSV and NDJSON hold hexcodes; else positions')
    .option('-r, --resolution <0-15>', `of positions that name none (${DEFAULT_RULES.resolution})`)
    .option('--columns <names>', 'columns of CSV, whose messages have no header row', DEFAULT_RULES.columns)
    .option('--prefix <text>', 'before the names of the members that JSON objects get', '');
}

export function rulesOf(options: ReadingOptions): ReadingRules {
  const { as = [], decode, resolution, columns, prefix } = options;
  const formats = usage(() => as.map(readFormatRule));
  if (options.schemaRegistry === undefined && formats.some(({ format }) => format === 'avro'))
    throw badUsage('--as …=avro needs --schema-registry');
  return usage(() => ({
    ...DEFAULT_RULES,
    formats,
    operation: decode === true ? 'decode' : 'encode',
    resolution: resolution === undefined ? DEFAULT_RULES.resolution : requireResolution(resolution),
    columns,
    prefix,
    paths: pathsOf(options),
  }));
}

function usage<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof SubjectFault) throw badUsage(error.message);
    throw error;
  }
}

/** Runs a command with its settings; faults of the bus become sentences. */
export async function withBus(command: Command, work: (settings: BusConfig) => Promise<void>): Promise<void> {
  const settings = settingsOf(command, BUS_NAMES);
  if (settings === undefined) return;
  const { from } = command.opts<{ from?: string }>();
  try {
    const isNats = from !== undefined && busOf(from) === BUSES.NATS;
    await work(isNats ? { ...settings, natsUrl: readServers(from) } : settings);
  } catch (error) {
    if (error instanceof Fault) throw badUsage(`--from ${error.message}`);
    if (error instanceof EngineFault) throw new CliFailure(EXIT.FAILED, error.message, error.hint);
    throw error;
  }
}

const QUIET_MS = 10_000;
/** Dead letters that are named in a second; the others are counted. */
const MAX_NAMED = 100;

/**
 * Reports sentences on standard error, each kind once in ten seconds: numbers and subjects in it may differ. Dead
 * letters are named one by one, 100 in a second.
 */
export function sayer(isQuiet: boolean): (sentence: string) => void {
  const last = new Map<string, number>();
  let [named, unnamed] = [0, 0];
  const name = (sentence: string): void => {
    if (named === 0)
      setTimeout(() => {
        if (unnamed > 0) say(`hexcodes: ${unnamed} more dead letters in this second\n`);
        [named, unnamed] = [0, 0];
      }, 1000).unref();
    if (++named <= MAX_NAMED) say(`hexcodes: ${visible(sentence)}\n`);
    else unnamed++;
  };
  return (sentence) => {
    if (sentence.startsWith('dead letter')) return name(sentence);
    const family = sentence.replace(/\d+/g, '0').slice(0, 60);
    const nowMs = performance.now();
    if (isQuiet || nowMs - (last.get(family) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return;
    if (last.size > 1000) last.clear();
    last.set(family, nowMs);
    say(`hexcodes: ${visible(sentence)}\n`);
  };
}
