// Files that other programs made (test/fixtures/brought), as the page reads them: each gives its codes, or a sentence
// that helps, in both languages.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Hexcodes } from '#dist/hexcodes/library/hexcodes.js';
import { BlockBuffers } from '#dist/hexcodes/wire/bulk/block-buffers.js';
import { BROUGHT, broughtCases, SHOP_CODES } from '../../../support/brought-files.js';
import { consoleModule } from '../../../support/console-module.js';

interface Source {
  readonly format: string;
  readonly bytes: ReadableStream<Uint8Array>;
  readonly header?: unknown;
  readonly hasMark: boolean;
}
const { openSource, CommandOnlyError } = await consoleModule<{
  openSource(task: object): Promise<Source>;
  CommandOnlyError: new () => Error;
}>('file/source.ts');
const { FileConversion, requestFor } = await consoleModule<{
  requestFor(beginning: Uint8Array, input: string, resolution: number): unknown;
  FileConversion: new (
    kernel: unknown,
    request: unknown,
    buffers: unknown,
    lead: object,
  ) => { push(chunk: Uint8Array): Uint8Array[]; end(): Uint8Array[] };
}>('file/conversion.ts');
const { inVietnamese } = await consoleModule<{ inVietnamese(sentence: string): string }>('words/reasons.ts');
const { kernel } = await Hexcodes.load();

/** The answer to a file: its rows with codes, or why there are none. */
async function answerTo(name: string): Promise<string> {
  try {
    const file = new File([readFileSync(join(BROUGHT, name))], name);
    const task = { kind: 'convert', file, isGzip: false, resolution: 13 };
    const { format, bytes, header, hasMark } = await openSource(task);
    const lead = { hasMark, ...(header === undefined ? {} : { header }) };
    const answers: Uint8Array[] = [];
    let conversion: InstanceType<typeof FileConversion> | undefined;
    for await (const chunk of bytes as unknown as AsyncIterable<Uint8Array>) {
      conversion ??= new FileConversion(kernel, requestFor(chunk, format, 13), new BlockBuffers(), lead);
      answers.push(...conversion.push(chunk));
    }
    answers.push(...(conversion?.end() ?? []));
    return Buffer.concat(answers).toString();
  } catch (error) {
    return error instanceof CommandOnlyError ? 'command' : (error as Error).message;
  }
}

const ENGLISH = /\b(?:is|must|has|have|the|be|of|it)\b/i;

test.each(
  broughtCases()
    .filter(({ options }) => options.length === 0)
    .map(({ file, page }) => [file, page]),
)('%s', async (file, page) => {
  const answer = await answerTo(file);
  if (page === 'codes') {
    expect(answer.match(/(?:HN|HCM|DNG)-[0-9A-Z]{5}-[0-9A-Z]{5}/g)).toEqual(SHOP_CODES);
    return;
  }
  if (page === 'failed') {
    expect(answer).toContain('INVALID_REQUEST');
    return;
  }
  for (const words of page.split(' | ')) expect(answer).toContain(words);
  if (page === 'command') return;
  const [words = ''] = inVietnamese(answer).split(/: (?=[\w:]+ )/);
  expect(words).not.toMatch(ENGLISH);
});
