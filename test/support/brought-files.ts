// Files that other programs made (test/fixtures/brought/files.zip), and the table of what the command and the page make
// of each (cases.tsv).
import { readFileSync } from 'node:fs';
import { unzipSync } from 'fflate';

const BROUGHT = 'test/fixtures/brought';

/** The files, by name. */
export const BROUGHT_FILES: ReadonlyMap<string, Buffer> = new Map(
  Object.entries(unzipSync(readFileSync(`${BROUGHT}/files.zip`))).map(([name, bytes]) => [
    name,
    Buffer.from(bytes),
  ]),
);

/** @throws Error if no program made a file of that name */
export function broughtFile(name: string): Buffer {
  const bytes = BROUGHT_FILES.get(name);
  if (bytes === undefined) throw new Error(`${BROUGHT}/files.zip has no ${name}`);
  return bytes;
}

export interface BroughtCase {
  readonly file: string;
  /** Options of the command. */
  readonly options: readonly string[];
  /** `codes`, or words of the sentence that it is refused with. */
  readonly command: string;
  /**
   * Outcome in the page: `command` for a file for which it shows a line of the command, `failed` where rows fail,
   * nothing where there are options.
   */
  readonly page: string;
}

export function broughtCases(): BroughtCase[] {
  const [, ...lines] = readFileSync(`${BROUGHT}/cases.tsv`, 'utf8').trimEnd().split('\n');
  return lines.map((line) => {
    const [file = '', options = '', command = '', page = ''] = line.split('\t');
    return { file, options: options.split(' ').filter((each) => each !== ''), command, page };
  });
}

/** The codes of the shops that files of `codes` hold. */
export const SHOP_CODES = ['HN-6GHP4-899JC', 'HCM-GXC6M-P9845', 'DNG-6KKJG-JHVFH'];
