// A sink in a table of PostgreSQL. A batch is copied (COPY) into a table of the session and inserted from there, so
// that a row whose id is there already goes without a word.

import { Socket } from 'node:net';
import pg from 'pg';
import { COLUMNS, eachRow, type PositionRow, type Sink } from './sink.js';

const NAMES = COLUMNS.map(([name]) => name).join(', ');
const TIMES: readonly (keyof PositionRow)[] = ['fix_time', 'device_time', 'server_time'];

/** Time for a batch, as of an http sink. */
const BATCH_MS = 30_000;
const CONNECT_MS = 10_000;
const CLOSE_MS = 500;

export interface PostgresAddress {
  /** As libpq has it, without a password. */
  readonly url: string;
  /** With its schema, where one is named. */
  readonly table: string;
}

export class PostgresSink implements Sink {
  readonly name: string;
  readonly #table: string;
  readonly #connectionString: string;
  #open: OpenClient | undefined;

  constructor(address: PostgresAddress, password: string | undefined) {
    const url = new URL(address.url);
    const { protocol, host, pathname } = url;
    this.name = `${protocol}//${host}${pathname}, table ${address.table}`;
    if (password !== undefined) url.password = encodeURIComponent(password);
    this.#connectionString = url.href;
    this.#table = address.table.split('.').map(pg.escapeIdentifier).join('.');
  }

  async deliver(lines: Buffer, signal: AbortSignal): Promise<void> {
    const rows: string[] = [];
    await eachRow(lines, (row, line) => rows.push(copyRowOf(row, line)));
    const open = await this.#opened();
    const letGo = (): void => void open.socket.destroy();
    const timer = setTimeout(letGo, BATCH_MS);
    signal.addEventListener('abort', letGo);
    if (signal.aborted) letGo();
    try {
      await this.#insert(open.client, Buffer.from(rows.join('')));
    } catch (error) {
      // Whatever state it is in, the next batch has another.
      letGo();
      this.#open = undefined;
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', letGo);
    }
  }

  async close(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    if (open === undefined) return;
    const timer = setTimeout(() => open.socket.destroy(), CLOSE_MS);
    await open.client.end().catch(() => {});
    clearTimeout(timer);
  }

  async #insert(client: pg.Client, rows: Buffer): Promise<void> {
    // Without a bound a statement that waits for a lock would stay with the database after its connection is let go.
    await client.query(`BEGIN; SET LOCAL statement_timeout = ${BATCH_MS}`);
    // One for the session, empty again after each batch: with one a batch the catalogue would grow.
    await client.query(
      `CREATE TEMPORARY TABLE IF NOT EXISTS hexcodes_incoming (LIKE ${this.#table}) ON COMMIT DELETE ROWS`,
    );
    await copyInto(client, `COPY hexcodes_incoming (${NAMES}) FROM STDIN`, rows);
    await client.query(
      `INSERT INTO ${this.#table} (${NAMES}) SELECT ${NAMES} FROM hexcodes_incoming ON CONFLICT DO NOTHING`,
    );
    await client.query('COMMIT');
  }

  /** @returns a connection that has not ended, to a database that has the table */
  async #opened(): Promise<OpenClient> {
    if (this.#open?.isGone === false) return this.#open;
    const socket = new Socket();
    const client = new pg.Client({
      connectionString: this.#connectionString,
      application_name: 'hexcodes traccar',
      connectionTimeoutMillis: CONNECT_MS,
      keepAlive: true,
      stream: () => socket,
    });
    const open: OpenClient = { client, socket, isGone: false };
    const gone = (): void => {
      open.isGone = true;
    };
    // Without a listener an error of an idle connection would end the process.
    client.on('error', gone);
    client.on('end', gone);
    try {
      await client.connect();
      await this.#makeTable(client);
    } catch (error) {
      socket.destroy();
      throw error;
    }
    this.#open = open;
    return open;
  }

  /** Makes the table where it is missing: to ask first spares a user of the database the right to make tables. */
  async #makeTable(client: pg.Client): Promise<void> {
    const { rows } = await client.query<{ there: boolean }>('SELECT to_regclass($1) IS NOT NULL AS there', [
      this.#table,
    ]);
    if (rows[0]?.there === true) return;
    const columns = COLUMNS.map(([name, type]) => `${name} ${type}`).join(', ');
    await client.query(`CREATE TABLE IF NOT EXISTS ${this.#table} (${columns})`);
  }
}

interface OpenClient {
  readonly client: pg.Client;
  readonly socket: Socket;
  isGone: boolean;
}

/** The connection of a client, as far as a COPY needs it. */
interface CopyConnection {
  query(text: string): void;
  sendCopyFromChunk(bytes: Buffer): void;
  endCopyFrom(): void;
}

/** Sends rows by COPY, which pg leaves to objects with these methods. */
function copyInto(client: pg.Client, text: string, rows: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    let fault: Error | undefined;
    const copy = {
      submit: (connection: CopyConnection) => connection.query(text),
      handleCopyInResponse: (connection: CopyConnection) => {
        connection.sendCopyFromChunk(rows);
        connection.endCopyFrom();
      },
      handleCommandComplete: () => {},
      handleError: (error: Error) => {
        fault = error;
        // A connection that has ended is never ready again.
        reject(error);
      },
      handleReadyForQuery: () => (fault === undefined ? resolve() : reject(fault)),
    };
    client.query(copy as unknown as pg.Submittable);
  });
}

/**
 * A row in the text format of COPY.
 * @param line the row as NDJSON, whose numbers in attributes keep all their digits
 */
function copyRowOf(row: PositionRow, line: Buffer): string {
  const fields = COLUMNS.map(([name]) => {
    const value = row[name];
    if (value === null) return '\\N';
    if (name === 'attributes') return escaped(jsonbOf(attributesIn(line.toString())));
    return escaped(
      TIMES.includes(name) ? timestampOf(String(value)) : String(value).replaceAll('\0', '\ufffd'),
    );
  });
  return `${fields.join('\t')}\n`;
}

function escaped(text: string): string {
  return text.replace(/[\\\t\n\r]/g, (sign) => ESCAPES[sign] as string);
}
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** ISO 8601 as PostgreSQL reads it, which has no year 0 and no signs before years. */
function timestampOf(iso: string): string {
  const [, year = '', rest = ''] = /^([+-]?\d+)(-.*)$/.exec(iso) ?? [];
  const number = Number(year);
  if (number > 0) return `${String(number).padStart(4, '0')}${rest}`;
  return `${String(1 - number).padStart(4, '0')}${rest} BC`;
}

/** An escape of JSON; the two of one character beyond 16 bits together. */
const ESCAPE = /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4}|.)/gs;
const NO_CHARACTER = /^\\u(?:0000|[dD][89a-fA-F][\da-fA-F]{2})$/;
const ATTRIBUTES = ',"attributes":';
/** The last member of a line; none before it holds an object. */
function attributesIn(line: string): string {
  return line.slice(line.indexOf(ATTRIBUTES) + ATTRIBUTES.length, line.lastIndexOf('}'));
}

/**
 * JSON as jsonb takes it: without NUL and halves of characters, which become U+FFFD, and with numbers of more than 400
 * digits, or so large or small an exponent, as doubles.
 */
function jsonbOf(json: string): string {
  return json.replace(/"(?:[^"\\]+|\\.)*"|-?\d[\d.eE+-]*/g, (token) => {
    if (token.startsWith('"'))
      return token.replace(ESCAPE, (each) => (NO_CHARACTER.test(each) ? '\ufffd' : each));
    return token.length > 400 || /[eE][+-]?\d{4}/.test(token) ? JSON.stringify(Number(token)) : token;
  });
}
