// The options that the commands of the message bus have in common: which subjects and streams, and how messages are
// read.
import type { Command } from 'commander';
import { EngineFault } from '../../bus/engine.js';
import { DEFAULT_RULES, type ReadingRules, readFormatRule } from '../../bus/messages/message-shape.js';
import type { StreamNames } from '../../bus/nats/streams.js';
import { SchemaFault } from '../../bus/schema.js';
import { requirePattern, SubjectFault, SubjectMap } from '../../bus/subjects.js';
import { BUS_NAMES, type BusConfig } from '../../config/config.js';
import { CliFailure, EXIT } from '../../files/exit-codes.js';
import { requireResolution } from '../../files/position-options.js';
import { say } from '../../files/terminal/say.js';
import { visible } from '../../files/terminal/visible.js';
import { addFlags, settingsOf } from '../settings.js';

/** Before the subjects of frames of collected positions, unless another is given. */
export const COLLECTED_SUBJECT = 'hexcodes.in.collected';
/** Default name of the micro service, also the prefix of its endpoints' subjects. */
export const SERVICE_NAME = 'hexcodes';
const DEFAULT_MAP = 'hexcodes.in.>=hexcodes.out.>';

/** Options that may be given several times. */
export const gathered = (text: string, before: string[] | undefined): string[] => [...(before ?? []), text];

export interface StreamOptions {
  readonly map?: string[];
  readonly stream: string;
  readonly answers: string;
  readonly dead: string;
  readonly deadSubject: string;
  readonly consumer: string;
}

export function addStreamOptions(command: Command): Command {
  return addFlags(command, BUS_NAMES)
    .option(
      '--map <from=to>',
      `subjects of messages and of their answers, may be given several times (${DEFAULT_MAP})`,
      gathered,
    )
    .option('--stream <name>', 'stream of the messages', 'HEXCODES_IN')
    .option('--answers <name>', 'stream of the answers', 'HEXCODES_OUT')
    .option('--dead <name>', 'stream of the dead letters', 'HEXCODES_DEAD')
    .option('--dead-subject <words>', 'before the subjects of dead letters', 'hexcodes.dead')
    .option('--consumer <name>', 'consumer of the stream, which all workers share', 'hexcodes');
}

export const namesOf = ({ stream, answers, dead, consumer }: StreamOptions): StreamNames => ({
  input: stream,
  output: answers,
  dead,
  consumer,
});

/** The first words of subjects, without wild ones. */
export function requireSubject(flag: string, text: string): string {
  const isWild = usage(() => requirePattern(text)).some((word) => word === '*' || word === '>');
  if (isWild) throw new CliFailure(EXIT.USAGE, `${flag} ${text}: must have neither * nor >`);
  return text;
}

export function mapsOf({ map = [DEFAULT_MAP], deadSubject }: StreamOptions): SubjectMap[] {
  return usage(() => {
    requireSubject('--dead-subject', deadSubject);
    return map.map((text) => new SubjectMap(text));
  });
}

export interface ReadingOptions {
  readonly as?: string[];
  readonly decode?: boolean;
  readonly resolution?: string;
  readonly columns: string;
  readonly prefix: string;
}

export function addReadingOptions(command: Command): Command {
  return command
    .option(
      '--as <pattern=format>',
      'format of the messages of these subjects that have no header Hexcodes-Format: frames, ndjson, csv, json (frames)',
      gathered,
    )
    .option('--decode', 'CSV and NDJSON hold hexcodes; else positions')
    .option('-r, --resolution <0-15>', `of positions that name none (${DEFAULT_RULES.resolution})`)
    .option('--columns <names>', 'columns of CSV, whose messages have no header row', DEFAULT_RULES.columns)
    .option('--prefix <text>', 'before the names of the members that JSON objects get', '');
}

export function rulesOf({ as = [], decode, resolution, columns, prefix }: ReadingOptions): ReadingRules {
  return usage(() => ({
    ...DEFAULT_RULES,
    formats: as.map(readFormatRule),
    operation: decode === true ? 'decode' : 'encode',
    resolution: resolution === undefined ? DEFAULT_RULES.resolution : requireResolution(resolution),
    columns,
    prefix,
  }));
}

function usage<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof SubjectFault) throw new CliFailure(EXIT.USAGE, error.message);
    throw error;
  }
}

/** Runs a command with its settings; what the bus refuses becomes a sentence. */
export async function withBus(command: Command, work: (settings: BusConfig) => Promise<void>): Promise<void> {
  const settings = settingsOf(command, BUS_NAMES);
  if (settings === undefined) return;
  try {
    await work(settings);
  } catch (error) {
    if (error instanceof EngineFault) throw new CliFailure(EXIT.FAILED, error.message, error.hint);
    if (error instanceof SchemaFault)
      throw new CliFailure(
        EXIT.FAILED,
        `a message on the bus is not what its subject says: ${error.message}`,
      );
    throw error;
  }
}

const QUIET_MS = 10_000;

/** Says sentences on standard error, each family of them once in ten seconds: numbers and subjects in it may differ. */
export function sayer(isQuiet: boolean): (sentence: string) => void {
  const last = new Map<string, number>();
  return (sentence) => {
    const family = sentence.replace(/\d+/g, '0').slice(0, 60);
    const nowMs = performance.now();
    if (isQuiet || nowMs - (last.get(family) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return;
    if (last.size > 1000) last.clear();
    last.set(family, nowMs);
    say(`hexcodes: ${visible(sentence)}\n`);
  };
}
