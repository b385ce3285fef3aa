// The code blocks of a page of documentation, and what they say that comes of them.
import { readFileSync } from 'node:fs';

export interface Block {
  /** Number of its first line of code, from 1. */
  readonly line: number;
  readonly text: string;
}

/** The code blocks of a page in one language, which is the only word after the fence. */
export function blocksOf(page: string, language: string): Block[] {
  const text = readFileSync(page, 'utf8');
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, 'gm'))].map((match) => ({
    line: text.slice(0, match.index).split('\n').length + 1,
    text: match[1] as string,
  }));
}

export interface Session {
  readonly command: string;
  readonly output: string;
}

/** The commands of a console block: each `$ ` at the start of a line begins one, up to the next is its output. */
export function sessionsOf({ text }: Block): Session[] {
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = '', ...output] = part.split('\n');
      return { command, output: output.join('\n') };
    });
}

/** The output that a program promises: comments after console.log, or on lines of their own after a loop. */
export function printedBy({ text }: Block): string[] {
  return text.split('\n').flatMap((line) => {
    const comment = /console\.log\(.*\);\s*\/\/ (.*)$/.exec(line) ?? /^\/\/ (.*)$/.exec(line);
    return comment === null ? [] : [comment[1] as string];
  });
}
