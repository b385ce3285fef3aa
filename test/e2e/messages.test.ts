// Every message of test/vectors/messages.csv, word for word: the entry point, its input, and the exit code or status
// with the message. No other test asserts wording. `MESSAGES=write npx vitest run test/e2e/messages.test.ts` writes
// the answers of this build into the table; read the difference before it is committed.
import { readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { afterAll, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import * as geometry from '#hexcodes/geometry';
import { converterOf, rulesOf, shapeOf } from '../support/engine/frames.js';
import { call } from '../support/http-calls.js';
import { startServer } from '../support/server.js';
import { sharedCommand, sharedOf } from '../support/shared.js';
import { shippedKernel } from '../support/shipped.js';

const FILE = 'test/vectors/messages.csv';
const isWritten = process.env.MESSAGES === 'write';

interface Row {
  /** `command`, `library`, `message` of a bus, or a method of HTTP with the type of its body. */
  readonly entry: string;
  /** A command line, a name of the library, a format and headers of a message, or a path below /v1/. */
  readonly input: string;
  /**
   * A body, with `\r` and `\0` for these bytes, or in base64; of the command `in.…` of its line, or its input; of the
   * library its arguments as an array.
   */
  readonly content: string;
  answer: string;
}

const rows = parse(readFileSync(FILE, 'utf8'), { columns: true }) as Row[];
const folder = sharedCommand();

const server = sharedOf(() => startServer());

afterAll(async () => {
  await server.stop();
  if (!isWritten) return;
  const lines = rows.map(({ entry, input, content, answer }) => [entry, input, content, answer]);
  const field = (text: string): string => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const all = [['entry', 'input', 'content', 'answer'], ...lines];
  writeFileSync(FILE, all.map((line) => `${line.map(field).join()}\n`).join(''));
});

async function ofCommand(line: string, content: string | Buffer): Promise<string> {
  const words = line.match(/'[^']*'|\S+/g)!.map((word) => word.replaceAll("'", ''));
  const file = words.find((word) => word.startsWith('in.'));
  if (file !== undefined) folder.write(file, content);
  const { code, stderr } = await folder.run(words, file === undefined ? { stdin: content } : {});
  return `${code} ${stderr.trimEnd()}`;
}

async function ofService(entry: string, path: string, content: string | Buffer): Promise<string> {
  const [method = '', ...type] = entry.split(' ');
  const body = method === 'GET' ? {} : { body: String(content), headers: { 'Content-Type': type.join(' ') } };
  const answer = await call(server, `/v1/${path}`, { method, ...body });
  return `${answer.status} ${answer.body?.message ?? answer.headers.get('Hexcodes-Hint')}`;
}

const library = new Hexcodes(shippedKernel());
type Callable = (...args: unknown[]) => unknown;

/** Functions of the geometry have the library in front of their arguments. */
function ofLibrary(name: string, args: string): string {
  const values = JSON.parse(args) as unknown[];
  try {
    if (name in library) (library[name as 'encode'] as Callable)(...values);
    else (geometry[name as 'cover'] as Callable)(library, ...values);
    return 'no error';
  } catch (error) {
    return `${(error as { code: string }).code} ${(error as Error).message}`;
  }
}

/** The reason of a dead letter. @param input `json`, or `csv Hexcodes-Resolution:16` */
async function ofMessage(input: string, body: Uint8Array): Promise<string> {
  const [format = '', ...headers] = input.split(' ');
  const own = headers.map((header) => header.split(':') as [string, string]);
  try {
    const shape = shapeOf('a', new Map([['Hexcodes-Format', format], ...own]), rulesOf());
    await converterOf(library).convert(body, shape);
    return 'no error';
  } catch (error) {
    return `${(error as Error).name} ${(error as Error).message}`;
  }
}

test.each(rows.map((row) => [row.entry, row.input, row] as const))('%s %s', async (entry, input, row) => {
  const content = row.content.startsWith('base64:')
    ? Buffer.from(row.content.slice(7), 'base64')
    : row.content.replaceAll('\\r', '\r').replaceAll('\\0', '\0');
  const answer =
    entry === 'library'
      ? ofLibrary(input, String(content))
      : entry === 'message'
        ? await ofMessage(input, Buffer.from(content))
        : entry === 'command'
          ? await ofCommand(input, content)
          : await ofService(entry, input, content);
  if (isWritten) row.answer = answer;
  expect(answer).toBe(row.answer);
});
