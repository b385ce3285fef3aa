// Doors that take the same bytes: bulk bodies, batches, frames and JSON of the stream, and files of the command, which
// runs in this process. An answer is a word for each row, with the code where there is one.

import { ok } from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { convertFiles } from '#dist/files/run.js';
import { Hexcodes } from '#hexcodes';
import { handshake, RawWebSocket, TEXT } from '../raw-websocket.js';
import { startServer, type TestServer } from '../server.js';
import { shippedFiles } from '../shipped.js';
import { encodeFrame } from '../stream-frames.js';

export type Format = 'csv' | 'ndjson';

/** A word for each row, or why the whole body is refused. */
export type Answer = readonly string[] | { readonly refused: string };

export const isRefused = (answer: Answer): answer is { readonly refused: string } => 'refused' in answer;

const MEDIA = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  frames: 'application/vnd.hexcodes.frames',
} as const;

interface Result {
  readonly status: string;
  readonly hexcodes?: string | null;
  readonly lat?: number | null;
  readonly lng?: number | null;
}

const wordOf = ({ status, hexcodes }: Result): string => (status === 'OK' ? `OK ${hexcodes}` : status);

const resultsIn = (text: string): Result[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    // The command copies lines, with the marks before them.
    .map((line) => JSON.parse(line.slice(Math.max(0, line.indexOf('{')))) as Result);

/** The words of a CSV answer, whose last columns are ours. */
function wordsOfCsv(text: string, delimiter: string): string[] {
  // The command keeps a first line that names the delimiter.
  const [names, ...rows] = parse(text.replace(/^\ufeff?sep=.\r?\n/, ''), {
    ...{ bom: true, delimiter, record_delimiter: ['\r\n', '\n'], skip_empty_lines: true },
    ...{ relax_column_count: true, relax_quotes: true },
  }) as string[][];
  if (names === undefined) return [];
  const [code, status] = ['hexcodes', 'status'].map((name) => names.lastIndexOf(name) - names.length);
  return rows.map((row) => wordOf({ status: row.at(status!)!, hexcodes: row.at(code!)! }));
}

export class SameBytes {
  readonly #server: TestServer;
  readonly #library: Hexcodes;
  readonly #folder = mkdtempSync(join(tmpdir(), 'hexcodes-same-'));

  private constructor(server: TestServer, library: Hexcodes) {
    this.#server = server;
    this.#library = library;
  }

  static async open(): Promise<SameBytes> {
    return new SameBytes(await startServer({ logLevel: 'error' }, shippedFiles()), await Hexcodes.load());
  }

  async close(): Promise<void> {
    rmSync(this.#folder, { recursive: true });
    await this.#server.stop();
  }

  async #post(path: string, type: string, body: Uint8Array<ArrayBuffer>, accept = '*/*') {
    const headers = { 'Content-Type': type, Accept: accept, 'X-API-Key': this.#server.key };
    const answer = await fetch(`${this.#server.base}/v1/hexcodes/${path}`, { method: 'POST', headers, body });
    return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) };
  }

  /** The bulk endpoint. @param delimiter of CSV answers */
  async bulk(from: Format, to: Format, body: Buffer, delimiter = ','): Promise<Answer> {
    const { status, bytes } = await this.#post('encode/bulk', MEDIA[from], new Uint8Array(body), MEDIA[to]);
    const text = bytes.toString();
    if (status !== 200) return { refused: (JSON.parse(text) as { message: string }).message };
    return to === 'csv' ? wordsOfCsv(text, delimiter) : resultsIn(text).map(wordOf);
  }

  /** The answers of binary frames to the positions that the bulk endpoint reads in a body of CSV. */
  async frames(body: Buffer): Promise<readonly string[]> {
    const { bytes } = await this.#post('encode/bulk', MEDIA.csv, new Uint8Array(body), MEDIA.ndjson);
    const results = resultsIn(bytes.toString());
    const pairs = new Float64Array(results.flatMap(({ lat, lng }) => [lat ?? Number.NaN, lng ?? Number.NaN]));
    const frame = new Uint8Array(encodeFrame(1, pairs));
    const { bytes: answer } = await this.#post('encode/bulk', MEDIA.frames, frame);
    return results.map((_, row) => {
      const record = answer.subarray(16 + 20 * row, 36 + 20 * row);
      const code = record.toString('latin1', 0, 19).replace(/\0+$/, '');
      return record[19] === 0 ? `OK ${code}` : record[19] === 1 ? 'NOT_FOUND' : 'INVALID_REQUEST';
    });
  }

  /** A batch over HTTP, and the same as a JSON frame of the stream. @param items texts of JSON */
  async batches(items: readonly string[]): Promise<readonly (readonly string[])[]> {
    const points = `"points":[${items.join(',')}]`;
    const { bytes } = await this.#post('encode/batch', 'application/json', Buffer.from(`{${points}}`));
    const lines = ['Sec-WebSocket-Protocol: hexcodes.v1.json'];
    const peer = await RawWebSocket.open(this.#server.port, handshake(this.#server.key, lines));
    peer.send(`{"seq":1,"op":"encode",${points}}`, TEXT);
    const { payload } = await peer.next();
    peer.end();
    return [bytes, payload].map((each) =>
      (JSON.parse(each.toString()) as { results: Result[] }).results.map(wordOf),
    );
  }

  /** The endpoint of single positions. @param body an object of JSON */
  async single(body: string): Promise<string> {
    const { status, bytes } = await this.#post('encode', 'application/json', Buffer.from(body));
    return status === 400 ? 'INVALID_REQUEST' : wordOf(JSON.parse(bytes.toString()) as Result);
  }

  /** The command. */
  async command(from: Format, to: Format, body: Buffer, delimiter = ','): Promise<Answer> {
    const [input, output] = [join(this.#folder, `in.${from}`), join(this.#folder, `out.${to}`)];
    writeFileSync(input, body);
    try {
      await convertFiles(
        this.#library,
        {
          ...{ operation: 'encode', inputs: [input], output, from: null, to: null, resolution: 13 },
          ...{ isFormer: false, sort: null, columns: { prefix: '' }, errors: { kind: 'keep' }, input: {} },
          ...{ csv: { delimiter: null, decimal: '.', hasHeader: true }, isResume: false },
          ...{ threads: 1, isQuiet: true },
        },
        () => undefined,
      );
    } catch (error) {
      const { exitCode, message } = error as Error & { exitCode?: number };
      ok(exitCode === 2 || exitCode === 3, `${message}: ${JSON.stringify(body.toString().slice(0, 500))}`);
      return { refused: message };
    }
    const text = readFileSync(output, 'utf8');
    return to === 'csv' ? wordsOfCsv(text, delimiter) : resultsIn(text).map(wordOf);
  }
}
