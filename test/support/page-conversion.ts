// A file converted as the page's worker does it, without a browser: by its own modules.

import { Hexcodes } from '#hexcodes';
import { conversionOf, type FileConversion, requestFor } from './console-conversion.js';
import { consoleModule } from './console-module.js';

interface Source {
  readonly format: string;
  readonly bytes: ReadableStream<Uint8Array>;
  readonly header?: unknown;
  readonly hasMark: boolean;
  readonly table?: { readonly titleRows: number };
}
const { openSource, CommandOnlyError } = await consoleModule<{
  openSource(task: object): Promise<Source>;
  CommandOnlyError: new () => Error;
}>('file/source.ts');
const { kernel } = await Hexcodes.load();

interface Answer {
  readonly format: string;
  readonly text: string;
  readonly titleRows: number;
}

/**
 * The answer to a file.
 * @param task columns or a sheet that a visitor has chosen
 * @throws Error why there is none
 */
export async function converted(bytes: Uint8Array, name: string, task: object = {}): Promise<Answer> {
  const file = new File([bytes as Uint8Array<ArrayBuffer>], name);
  const whole = { kind: 'convert', file, isGzip: false, resolution: 13, ...task };
  const { format, bytes: read, header, hasMark, table } = await openSource(whole);
  const lead = { hasMark, ...(header === undefined ? {} : { header }) };
  const answers: Uint8Array[] = [];
  let conversion: FileConversion | undefined;
  for await (const chunk of read as unknown as AsyncIterable<Uint8Array>) {
    conversion ??= conversionOf(kernel, requestFor(chunk, format, 13), lead);
    answers.push(...conversion.push(chunk));
  }
  answers.push(...(conversion?.end() ?? []));
  return { format, text: Buffer.concat(answers).toString(), titleRows: table?.titleRows ?? 0 };
}

/** The same as a text, and why there is none as one: `command` where the page shows a line of the command. */
export async function answerTo(bytes: Uint8Array, name: string): Promise<string> {
  try {
    return (await converted(bytes, name)).text;
  } catch (error) {
    return error instanceof CommandOnlyError ? 'command' : (error as Error).message;
  }
}
