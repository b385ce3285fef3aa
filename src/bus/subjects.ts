// Subjects: words with dots between them. In patterns `*` stands for one word, and `>` at the end for one or more. A
// map gives the subject of an answer: `fleet.*.points=fleet.*.hexcodes`, followed by the id of the message as a word.
import { createHash } from 'node:crypto';

/** A pattern or map that is not valid. The message begins with its text. */
export class SubjectFault extends Error {
  override readonly name = 'SubjectFault';
}

/** Longest subject of a message: servers end a connection that sends them a line of more than 4,096 bytes. */
export const MAX_SUBJECT_BYTES = 3500;

/** Longer ids are replaced by a digest: servers accept lines of 4,096 bytes. */
const MAX_WORD_BYTES = 512;

const isWild = (word: string): boolean => word === '*' || word === '>';

/** @throws SubjectFault */
export function requirePattern(text: string): readonly string[] {
  const words = text.split('.');
  const isRight = words.every((word, i) =>
    isWild(word) ? word === '*' || i === words.length - 1 : /^[^\s*>]+$/.test(word),
  );
  if (!isRight)
    throw new SubjectFault(
      `${JSON.stringify(text)} is not a subject: words, * or a last >, with points between them`,
    );
  return words;
}

/** Whether a subject is one of a pattern. */
export function isUnder(pattern: readonly string[], subject: string): boolean {
  return wildWords(pattern, subject.split('.')) !== undefined;
}

/** Whether two patterns have a subject in common. */
export function haveCommon(a: readonly string[], b: readonly string[]): boolean {
  for (let i = 0; ; i++) {
    const [one, other] = [a[i], b[i]];
    if (one === undefined || other === undefined) return one === other;
    if (one === '>' || other === '>') return true;
    if (one !== other && one !== '*' && other !== '*') return false;
  }
}

/** Whether every subject of the inner pattern is one of the outer pattern. */
export function isWithin(outer: readonly string[], inner: readonly string[]): boolean {
  for (const [i, word] of outer.entries()) {
    const other = inner[i];
    if (other === undefined) return false;
    if (word === '>') return true;
    if (other === '>' || (word !== '*' && word !== other)) return false;
  }
  return outer.length === inner.length;
}

/** Words of a subject that match the wildcards of a pattern; undefined where it does not match. */
function wildWords(pattern: readonly string[], words: readonly string[]): string[] | undefined {
  const found: string[] = [];
  for (const [i, word] of pattern.entries()) {
    if (word === '>') return i < words.length ? [...found, words.slice(i).join('.')] : undefined;
    if (i >= words.length || (word !== '*' && word !== words[i])) return undefined;
    if (word === '*') found.push(words[i]!);
  }
  return pattern.length === words.length ? found : undefined;
}

/** An id as one word of a subject; different ids have different words. */
export function wordOf(id: string): string {
  const word = encodeURIComponent(id).replace(
    /[.!~*'()]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  if (word.length <= MAX_WORD_BYTES && word !== '') return word;
  return `~${createHash('sha256').update(id).digest('hex')}`;
}

/** A subject; one that is too long to be published ends in a digest. */
export function shortSubject(subject: string): string {
  if (Buffer.byteLength(subject) <= MAX_SUBJECT_BYTES) return subject;
  return `~${createHash('sha256').update(subject).digest('hex')}`;
}

/** One map `FROM=TO`. */
export class SubjectMap {
  readonly from: readonly string[];
  readonly to: readonly string[];

  /** @throws SubjectFault */
  constructor(text: string) {
    const [from = '', to = '', ...others] = text.split('=');
    if (to === '' || others.length > 0)
      throw new SubjectFault(
        `${JSON.stringify(text)} is not a map of subjects: FROM=TO, as fleet.*.points=fleet.*.hexcodes`,
      );
    this.from = requirePattern(from);
    this.to = requirePattern(to);
    const wildOf = (words: readonly string[]): string => words.filter(isWild).join(' ');
    if (wildOf(this.from) !== wildOf(this.to))
      throw new SubjectFault(`${text}: both sides need the same * and > in the same order`);
    if (haveCommon(this.from, [...this.to, '*']))
      throw new SubjectFault(`${text}: answers would be received as messages again`);
  }

  /** All subjects that answers may have. */
  get answers(): string {
    return this.to.at(-1) === '>' ? this.to.join('.') : [...this.to, '*'].join('.');
  }

  /** The subject of the answer to a message; undefined where the message is under another map. */
  answerOf(subject: string, id: string): string | undefined {
    const found = wildWords(this.from, subject.split('.'));
    if (found === undefined) return undefined;
    const words = this.to.map((word) => (isWild(word) ? found.shift()! : word));
    return `${words.join('.')}.${wordOf(id)}`;
  }
}
