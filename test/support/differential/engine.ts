// The differential engine: entry points × formats × spellings × options, drawn by a seed, through a checkout that is
// built. Each case is judged by test/support/differential/reference.ts: bytes, statuses, and how many rows left the
// fast path.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Hexcodes } from '#hexcodes';
import { libraryModule, slowRowsModule } from '../../../bench/beside.js';
import type { ConvertFiles, Request } from '../files/convert.js';
import { randomFrom } from '../open-world.js';
import { csvByPeer, itemByPeer } from '../peers/bulk-text.js';
import { codeSpellings, csvSpellings, jsonSpellings, type SpelledRows } from '../spellings.js';
import { CODE_ROWS } from '../vectors.js';
import { type BulkFormat, type Operation, Wire } from '../wire.js';
import {
  answerTo,
  centerTo,
  type Extras,
  POSITIONS,
  RECORDED,
  type Table,
  tableIn,
  textOf,
} from './reference.js';

/** Counters of rows that left the fast path: by reason, or in older checkouts one. */
interface SlowRows {
  slowRowCounts?(): readonly { readonly rows: number }[];
  readonly slowWork?: { readonly rows: number };
}

export interface Difference {
  /** Entry point, formats, options and spelling. */
  readonly what: string;
  readonly got: string;
  readonly due: string;
}

export interface Findings {
  readonly cases: number;
  readonly rows: number;
  readonly differences: readonly Difference[];
  /** Entry point, formats and option → rows that left the fast path, and spellings of which some did. */
  readonly slow: ReadonlyMap<string, { rows: number; spellings: Set<string> }>;
}

/** Options of the service, and of files. */
const WIRE_OPTIONS: Readonly<Record<string, Extras>> = {
  plain: {},
  certainty: { certainty: true },
  former: { former: true },
  'certainty and former': { certainty: true, former: true },
};

interface FileOption {
  readonly request: Partial<Request>;
  readonly asked?: Extras;
  readonly keep?: readonly string[];
  readonly drop?: readonly string[];
  readonly prefix?: string;
  readonly skipsFailed?: boolean;
}

/** @param names of the position's columns in the source @param other a column of it that is not the position's */
function fileOptions(names: readonly [lat: string, lng: string], other: string): Record<string, FileOption> {
  const [lat, lng] = names;
  return {
    plain: { request: {} },
    '--certainty': { request: { hasCertainty: true }, asked: { certainty: true } },
    '--former': { request: { isFormer: true }, asked: { former: true } },
    '--prefix': { request: { columns: { prefix: 'x_' } }, prefix: 'x_' },
    '--lat and --lng of the own names': { request: { columns: { prefix: '', lat, lng } } },
    '--keep': { request: { columns: { prefix: '', keep: [lat, lng] } }, keep: [lat, lng] },
    '--drop': { request: { columns: { prefix: '', drop: [other] } }, drop: [other] },
    '--errors skip': { request: { errors: { kind: 'skip' } }, skipsFailed: true },
    '--sort': { request: { sort: { memoryBytes: 2 ** 26 } } },
    '--keep and --prefix and --certainty': {
      request: { hasCertainty: true, columns: { prefix: 'x_', keep: [lng] } },
      ...{ asked: { certainty: true }, keep: [lng], prefix: 'x_' },
    },
  };
}

const TARGETS = ['csv', 'ndjson', 'parquet', 'arrow'] as const;

interface CodedRow {
  readonly id: number;
  readonly hexcodes: string | null;
  readonly note: string;
}

/** How a code is in a field of a file to decode. */
const CODE_FIELDS: Readonly<Record<string, (code: string) => string>> = {
  plain: (code) => code,
  'lower case': (code) => code.toLowerCase(),
  'no hyphens': (code) => code.replaceAll('-', ''),
  'blanks for hyphens': (code) => code.replaceAll('-', ' '),
  'blanks around': (code) => `  ${code} `,
};

/** Fields without a position, in some of every eight rows. */
const FAULTY: Readonly<Record<number, (code: string) => string | null>> = {
  1: () => '',
  3: (code) => code.slice(0, -1) + (code.endsWith('X') ? 'Y' : 'X'),
  5: () => null,
  6: () => 'Hà Nội "x", y',
};

const NOTES = ['plain', 'a, b', 'say "a"', 'Huế', '\\ back', ''];

const DECODE_OPTIONS: Readonly<
  Record<
    string,
    Pick<FileOption, 'request' | 'keep'> & { name?: string; drop?: string; skipsFailed?: boolean }
  >
> = {
  plain: { request: {} },
  '--code': { request: { columns: { prefix: '', code: 'place' } }, name: 'place' },
  '--keep': { request: { columns: { prefix: '', keep: ['note'] } }, keep: ['note'] },
  '--drop': { request: { columns: { prefix: '', drop: ['note'] } }, drop: 'note' },
  '--errors skip': { request: { errors: { kind: 'skip' } }, skipsFailed: true },
};

const LINE_ENDS = ['\n', '\r\n', ' \t\n'];
const RESOLUTION = 11;
/** Resolution of messages, which a worker without options reads. */
const OBJECT_RESOLUTION = 13;

export class DifferentialEngine {
  readonly #folder = mkdtempSync(join(tmpdir(), 'hexcodes-differential-'));
  readonly #differences: Difference[] = [];
  readonly #slow = new Map<string, { rows: number; spellings: Set<string> }>();
  #cases = 0;
  #rows = 0;

  private constructor(
    readonly build: Wire,
    readonly files: ConvertFiles,
    readonly library: Hexcodes,
    readonly counts: SlowRows,
  ) {}

  /** @param folder of a checkout that is built */
  static async of(folder: string): Promise<DifferentialEngine> {
    const run = await libraryModule<{ convertFiles: ConvertFiles }>(folder, '../files/run.js');
    const library = await libraryModule<{ loadLibrary(): Promise<Hexcodes> }>(folder, '../files/library.js');
    const counts = await slowRowsModule<SlowRows>(folder);
    const build = await Wire.ofCheckout(folder);
    return new DifferentialEngine(build, run.convertFiles, await library.loadLibrary(), counts);
  }

  close(): void {
    rmSync(this.#folder, { recursive: true });
  }

  findings(): Findings {
    const [cases, rows] = [this.#cases, this.#rows];
    return { cases, rows, differences: this.#differences, slow: this.#slow };
  }

  /** Every spelling without options. @param share how many of the spellings are drawn with every option, 0 to 1 */
  async wire(seed: number, share: number): Promise<void> {
    const random = randomFrom(seed);
    const positions = drawn(random, 12);
    const options = (): [string, Extras][] => Object.entries(WIRE_OPTIONS).slice(0, random() < share ? 4 : 1);
    for (const spelling of jsonSpellings(positions)) {
      for (const [option, asked] of options()) this.#json(spelling, 'encode', option, asked);
      await this.#object(spelling);
    }
    for (const spelling of csvSpellings(positions))
      for (const [option, asked] of options()) this.#csv(spelling, option, asked);
    const codes = Array.from({ length: 12 }, () => CODE_ROWS[Math.floor(random() * CODE_ROWS.length)]!.code);
    for (const spelling of codeSpellings([...codes, 'HN', 'a_b.c d-e']))
      this.#json(spelling, 'decode', 'plain', {});
  }

  /** One array of items in every endpoint that takes some, and as lines. */
  #json(
    { name, rows, isArrayAlone }: SpelledRows,
    operation: Operation,
    option: string,
    asked: Extras,
  ): void {
    const isEncode = operation === 'encode';
    const members = Object.keys(asked).map((member) => `"${member}":true,`);
    const due = rows.map((row) => {
      const body = itemByPeer(RECORDED, operation, Buffer.from(row), RESOLUTION);
      return isEncode ? withExtras(body, asked) : centersRounded(body);
    });
    const items = `[${rows.join(',\n')}]`;
    const body = isEncode
      ? `"resolution":${RESOLUTION},${members.join('')}"points":${items}`
      : `"hexcodes":${items}`;
    const printed = isEncode ? (text: string) => text : centersRounded;
    const results = (answer: Uint8Array): string => {
      const text = Buffer.from(answer).toString();
      return printed(text.slice(text.indexOf('"results":[') + 11, -2));
    };
    this.#same(`batch, ${operation}, ${option}`, name, rows.length, due.join(), () =>
      results(this.build.batch(operation, Buffer.from(`{${body}}`))),
    );
    this.#same(`JSON frame, ${operation}, ${option}`, name, rows.length, due.join(), () =>
      results(this.build.jsonFrame(Buffer.from(`{"seq":1,"op":"${operation}",${body}}`))),
    );
    if (isArrayAlone) return;
    const end = LINE_ENDS[this.#cases % LINE_ENDS.length];
    for (const output of ['ndjson', 'csv'] as const) {
      const isJson = output === 'ndjson';
      this.#same(
        `/bulk from ndjson to ${output}, ${operation}, ${option}`,
        name,
        rows.length,
        isJson ? due.map((line) => `${line}\n`).join('') : tableOf(due, isEncode),
        () => {
          const answer = this.#bulk(
            'ndjson',
            output,
            rows.map((row) => row + end).join(''),
            asked,
            operation,
          );
          return printed(isJson ? answer : withoutQuotes(answer));
        },
      );
    }
  }

  /** The first row as a message of a bus. */
  async #object({ name, rows }: SpelledRows): Promise<void> {
    const members = JSON.parse(rows[0]!) as Record<string, number>;
    // Two names for one axis are refused, and so is a member that the answer has.
    if ('resolution' in members || ('lat' in members && 'latitude' in members)) return;
    const { latitude, longitude, lon, lat = latitude, lng = longitude ?? lon } = members;
    const { status, code, admin } = answerTo(lat!, lng!, OBJECT_RESOLUTION);
    const ours = { hexcodes: code, resolution: OBJECT_RESOLUTION, admin_code: admin, status };
    const due = `${rows[0]!.slice(0, -1).trimEnd()},${JSON.stringify(ours).slice(1)}`;
    const got = Buffer.from(await this.build.object(Buffer.from(rows[0]!))).toString();
    this.#same('message', name, 1, due, () => got);
  }

  #csv({ name, header, rows }: SpelledRows & { header: string }, option: string, asked: Extras): void {
    const body = `${[header, ...rows].join('\n')}\n`;
    const columns = { first: 1, second: 2, resolution: -1 };
    const due = csvByPeer(RECORDED, 'encode', Buffer.from(body), header, columns, RESOLUTION);
    const text = Buffer.from(due, 'latin1').toString();
    const wanted = text
      .split('\n')
      .slice(0, -1)
      .map((line) => csvWithExtras(line, asked));
    this.#same(
      `/bulk from csv to csv, ${option}`,
      name,
      rows.length,
      wanted.map((line) => `${line}\n`).join(''),
      () => {
        const answer = this.#bulk('csv', 'csv', body, asked);
        return answer.slice(answer.indexOf('\n') + 1);
      },
    );
  }

  #bulk(
    input: BulkFormat,
    output: BulkFormat,
    body: string,
    asked: Extras,
    operation: Operation = 'encode',
  ): string {
    const request = {
      operation,
      input,
      output,
      resolution: RESOLUTION,
      prefix: '',
      ...asked,
    } as const;
    return Buffer.from(this.build.bulk(request, Buffer.from(body))).toString();
  }

  /** Runs a case and compares; counts the rows that left the fast path. */
  #same(cell: string, spelling: string, rows: number, due: string, work: () => string): void {
    const before = this.build.slowRows();
    const got = withoutWording(work());
    this.#count(cell, spelling, rows, this.build.slowRows() - before);
    if (got !== due) this.#differ(`${cell}: ${spelling}`, got, due);
  }

  #count(cell: string, spelling: string, rows: number, slow: number): void {
    this.#cases++;
    this.#rows += rows;
    if (slow === 0) return;
    const known = this.#slow.get(cell) ?? { rows: 0, spellings: new Set() };
    known.rows += slow;
    known.spellings.add(spelling);
    this.#slow.set(cell, known);
  }

  #differ(what: string, got: string, due: string): void {
    let at = 0;
    while (at < got.length && got[at] === due[at]) at++;
    const from = Math.max(0, at - 60);
    this.#differences.push({ what, got: got.slice(from, at + 80), due: due.slice(from, at + 80) });
  }

  /** Files of NDJSON and CSV in some spellings, to every target with every option. */
  async fileCases(seed: number, spellings: number): Promise<void> {
    const random = randomFrom(seed);
    const positions = drawn(random, 40);
    const lines = [...jsonSpellings(positions)].filter(({ isArrayAlone }) => !isArrayAlone);
    const tables = [...csvSpellings(positions)].filter(({ isNegative }) => !isNegative);
    for (let n = 0; n < spellings; n++) {
      const json = lines[Math.floor(random() * lines.length)]!;
      await this.#file('ndjson', json.name, `${json.rows.join('\n')}\n`);
      const table = tables[Math.floor(random() * tables.length)]!;
      await this.#file('csv', table.name, `${[table.header, ...table.rows].join('\n')}\n`);
    }
  }

  async #file(source: 'csv' | 'ndjson', spelling: string, text: string): Promise<void> {
    const path = join(this.#folder, `in.${source}`);
    writeFileSync(path, text);
    const rows = await tableIn(path, source);
    const names = Object.keys(rows[0]!);
    const find = (...wanted: string[]): string => wanted.find((name) => names.includes(name))!;
    const pair = [find('lat', 'latitude'), find('lng', 'longitude', 'lon')] as const;
    const other = names.find((name) => !pair.includes(name));
    // Two columns for one axis are refused.
    if (names.filter((name) => ['lat', 'latitude'].includes(name)).length > 1) return;
    if (names.includes('resolution')) return;
    for (const target of TARGETS)
      for (const [option, how] of Object.entries(fileOptions(pair, other ?? ''))) {
        if ((option === '--sort' && target !== 'parquet') || (option === '--drop' && other === undefined))
          continue;
        await this.#fileCase(`${source} → ${target}, ${option}`, spelling, path, rows, pair, target, how);
      }
  }

  async #fileCase(
    cell: string,
    spelling: string,
    path: string,
    rows: Table,
    [lat, lng]: readonly [string, string],
    target: (typeof TARGETS)[number],
    { request, asked = {}, keep, drop, prefix = '', skipsFailed = false }: FileOption,
  ): Promise<void> {
    const whole = this.#requestOf(path, target, request);
    const got = await this.#converted(cell, spelling, whole, target, rows.length);
    if (got === null) return;
    const due = rows.flatMap((row) => {
      const [latDeg, lngDeg] = [row[lat], row[lng]].map((value) =>
        Number(String(value).trim().replace(',', '.')),
      );
      const { status, code, admin, extras } = answerTo(latDeg!, lngDeg!, RESOLUTION, asked);
      if (skipsFailed && status !== 'OK') return [];
      const own = keep ?? Object.keys(row).filter((name) => drop?.includes(name) !== true);
      const given = own.map((name) => [name, row[name]]);
      const ours = { hexcodes: code, resolution: RESOLUTION, admin_code: admin, ...extras, status };
      return [
        Object.fromEntries([
          ...given,
          ...Object.entries(ours).map(([name, value]) => [prefix + name, value]),
        ]),
      ];
    });
    const isSorted = whole.sort !== null;
    // Sorted Parquet has columns for other programs, too, and calls the code as they do.
    const seen = isSorted
      ? got.map(({ hexcode, ...row }) => picked({ ...row, hexcodes: hexcode }, Object.keys(due[0]!)))
      : got;
    const [gotText, dueText] = [seen, due].map((table) => {
      const texts = table.map((row) =>
        JSON.stringify(Object.entries(row).map(([name, value]) => [name, fileText(value)])),
      );
      return (isSorted ? texts.sort() : texts).join('\n');
    });
    if (gotText !== dueText) this.#differ(`${cell}: ${spelling}`, gotText!, dueText!);
  }

  #requestOf(path: string, target: string, request: Partial<Request>): Request {
    return {
      ...{ operation: 'encode', inputs: [path], output: join(this.#folder, `out.${target}`) },
      ...{ from: null, to: null, resolution: RESOLUTION },
      ...{ isFormer: false, sort: null, columns: { prefix: '' }, errors: { kind: 'keep' } },
      ...{ csv: { delimiter: null, decimal: '.', hasHeader: true }, input: {}, isResume: false },
      ...{ threads: 1, isQuiet: true, isVerbose: true },
      ...request,
    } as Request;
  }

  /** @returns the rows of the output, or null where there is none, which is a difference */
  async #converted(
    cell: string,
    spelling: string,
    request: Request,
    target: string,
    rows: number,
  ): Promise<Table | null> {
    const said: string[] = [];
    const before = this.#slowCount();
    let got: Table;
    try {
      await this.files(this.library, request, (line) => said.push(line));
      got = await tableIn(join(this.#folder, `out.${target}`), target);
    } catch (error) {
      this.#differ(`${cell}: ${spelling}`, String(error), 'a file');
      return null;
    }
    const isByValues = said.some((line) => line.startsWith('Converted value by value'));
    this.#count(cell, spelling, rows, isByValues ? rows : this.#slowCount() - before);
    return got;
  }

  /** Files of codes in every spelling of CODE_FIELDS, to every target plainly and with options by turns. */
  async decodeCases(seed: number): Promise<void> {
    const random = randomFrom(seed);
    for (const [turn, [name, spell]] of Object.entries(CODE_FIELDS).entries()) {
      const codes = Array.from(
        { length: 40 },
        () => CODE_ROWS[Math.floor(random() * CODE_ROWS.length)]!.code,
      );
      const faulty = codes.map((code, row) => FAULTY[row % 8]?.(code) ?? spell(code));
      const rows = faulty.map((hexcodes, id) => ({ id, hexcodes, note: NOTES[id % NOTES.length]! }));
      for (const source of ['csv', 'tsv', 'ndjson'] as const)
        for (const target of TARGETS) await this.#decodeFile(source, target, name, rows, turn);
    }
  }

  async #decodeFile(
    source: 'csv' | 'tsv' | 'ndjson',
    target: (typeof TARGETS)[number],
    spelling: string,
    rows: readonly CodedRow[],
    turn: number,
  ): Promise<void> {
    const path = join(this.#folder, `codes.${source}`);
    const separator = source === 'tsv' ? '\t' : ',';
    const end = LINE_ENDS[this.#cases % 2]!;
    const [plain, ...others] = Object.entries(DECODE_OPTIONS);
    const asked = [plain!, others[turn % others.length]!];
    for (const [option, { request, name, keep, drop, skipsFailed }] of asked) {
      const named = rows.map(({ id, hexcodes, note }) => ({ id, [name ?? 'hexcodes']: hexcodes, note }));
      const fields = [Object.keys(named[0]!), ...named.map((row) => Object.values(row))];
      const lines =
        source === 'ndjson'
          ? named.map((row) => JSON.stringify(row))
          : fields.map((row) => row.map((field) => fieldOf(field, separator)).join(separator));
      writeFileSync(path, lines.map((line) => line + end).join(''));
      const cell = `decode, ${source} → ${target}, ${option}`;
      const whole = this.#requestOf(path, target, { ...request, operation: 'decode' });
      const got = await this.#converted(cell, spelling, whole, target, rows.length);
      if (got === null) continue;
      const due = named.flatMap((row, n) => {
        const ours = centerTo(rows[n]!.hexcodes);
        if (skipsFailed === true && ours.status !== 'OK') return [];
        const given = Object.entries(row).filter(
          ([column]) => (keep?.includes(column) ?? true) && column !== drop,
        );
        return [{ ...Object.fromEntries(given), ...ours }];
      });
      const [gotText, dueText] = [got, due].map((table) => table.map(decodedText).join('\n'));
      if (gotText !== dueText) this.#differ(`${cell}: ${spelling}`, gotText!, dueText!);
    }
  }

  /** Slow rows so far by every origin, or of this thread alone in checkouts that do not count by origin. */
  #slowCount(): number {
    return (
      this.counts.slowRowCounts?.().reduce((sum, { rows }) => sum + rows, 0) ?? this.counts.slowWork!.rows
    );
  }
}

function picked(row: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, row[name]]));
}

/** A decimal comma of a source stays in tables of text, and is a point in others. */
function fileText(value: unknown): string {
  return typeof value === 'string' && /^\s*-?\d+,\d+\s*$/.test(value)
    ? textOf(value.replace(',', '.'))
    : textOf(value);
}

/** A field of CSV, in quotes where it must be and in some where it need not. */
function fieldOf(field: string | number | null, separator: string): string {
  const text = String(field ?? '');
  return text.includes(separator) || /["\n]|^[A-M]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Recorded centres may differ in their last digits. */
function decodedText(row: Record<string, unknown>): string {
  const round = (name: string, value: unknown): unknown =>
    (name === 'lat' || name === 'lng') && value !== null && value !== '' ? Number(value).toFixed(10) : value;
  return JSON.stringify(Object.entries(row).map(([name, value]) => [name, textOf(round(name, value))]));
}

function drawn(random: () => number, count: number): [number, number][] {
  return Array.from({ length: count }, () => {
    const { lat, lng } = POSITIONS[Math.floor(random() * POSITIONS.length)]!;
    return [lat, lng];
  });
}

/** The members that are requested, before the status of an item's answer. */
function withExtras(body: string, asked: Extras): string {
  const { lat, lng } = JSON.parse(body) as { lat: number; lng: number };
  const { extras } = answerTo(lat, lng, RESOLUTION, asked);
  const members = Object.entries(extras).map(([name, value]) => `,"${name}":${JSON.stringify(value)}`);
  return body.replace(',"status"', `${members.join('')},"status"`);
}

/** A row of CSV with the added fields; its second and third fields are the position. */
function csvWithExtras(line: string, asked: Extras): string {
  const fields = /^(?:"(?:[^"]|"")*"|[^,]*),(?:"([^"]*)"|([^,]*)),(?:"([^"]*)"|([^,]*))/.exec(line)!;
  const degrees = [fields[1] ?? fields[2], fields[3] ?? fields[4]].map((text) =>
    Number(text!.replace(/^[\s\u00a0]+|[\s\u00a0]+$/g, '').replace(',', '.')),
  );
  const { extras } = answerTo(degrees[0]!, degrees[1]!, RESOLUTION, asked);
  const added = Object.values(extras).map((value) => `,${value ?? ''}`);
  return line.replace(/(,[A-Z_]+\r?)$/, `${added.join('')}$1`);
}

/** Recorded centres may differ in their last digit, a nanometre. */
function centersRounded(text: string): string {
  return text.replace(/\d+\.\d{12,}/g, (digits) => String(Number(Number(digits).toFixed(11))));
}

/** Messages, and the codes that batches have beside them, are worded elsewhere. */
function withoutWording(text: string): string {
  return text.replace(/,"code":"\w+","index":\d+|,"message":"(?:[^"\\]|\\.)*"/g, '');
}

/** Answers in NDJSON as the table that /bulk writes of them. */
function tableOf(bodies: readonly string[], isEncode: boolean): string {
  const rows = bodies.map((body) => {
    const { hexcodes, lat, lng, resolution, admin_code, id, status, ...extras } = JSON.parse(body) as Record<
      string,
      unknown
    >;
    return isEncode
      ? { id, lat, lng, hexcodes, resolution, admin_code, ...extras, status }
      : { id, hexcodes, lat, lng, resolution, status };
  });
  const fields = rows.map((row) => Object.values(row).map((value) => value ?? ''));
  return [Object.keys(rows[0]!), ...fields].map((row) => `${row.join()}\n`).join('');
}

/** Ids of the corpus need no quotes. */
function withoutQuotes(text: string): string {
  return text.replaceAll('"', '');
}
