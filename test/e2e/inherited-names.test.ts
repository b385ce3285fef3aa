// Names that every object of JavaScript has (constructor, __proto__) are words like any other wherever a user gives
// one. The judge is a word that means nothing, in its place: the answers differ by the word alone.
import { describe, expect, test } from 'vitest';
import { call, ENCODE, GOOD, post, postJson } from '../support/http-calls.js';
import { sharedCommand, sharedServer } from '../support/shared.js';

const OTHER = 'qwrtzpsdf';
const NAMES = Object.getOwnPropertyNames(Object.prototype);

/** A text without the word, and without what differs in each answer or is guessed from its letters. */
const plain = (text: string, word: string): string =>
  text
    .replaceAll(word, OTHER)
    .replaceAll(word.toLowerCase(), OTHER)
    .replace(/"request_id":"[^"]*"/g, '')
    .replace(/ in \d+\.\d s/g, '');

describe('over HTTP', () => {
  const server = sharedServer();

  const CSV = 'lat,lng\n21.03,105.85\n';
  const BULK = `${ENCODE}/bulk`;
  const ASKED: readonly [what: string, ask: (word: string) => [path: string, init?: RequestInit]][] = [
    ['a parameter', (word) => [`${ENCODE}?${GOOD}&${word}=1`]],
    ['a resolution', (word) => [`${ENCODE}?${GOOD}&resolution=${word}`]],
    ['a delimiter', (word) => [`${BULK}?delimiter=${word}`, post('text/csv', CSV)]],
    ['a column', (word) => [`${BULK}?lat=${word}`, post('text/csv', CSV)]],
    ['a name in a header row', (word) => [BULK, post('text/csv', `lat,lng,${word}\n21.03,105.85,x\n`)]],
    ['a type', (word) => [BULK, post(`text/${word}`, CSV)]],
    ['a bare type', (word) => [BULK, post(word, CSV)]],
    ['a member', (word) => [ENCODE, postJson(`{"lat":21.03,"lng":105.85,"${word}":1}`)]],
    ['a member around', (word) => [ENCODE, postJson(`{"${word}":{"lat":21.03,"lng":105.85}}`)]],
    ['a list', (word) => [`${ENCODE}/batch`, postJson(`{"${word}":[[21.03,105.85]]}`)]],
    [
      'a member of a row',
      (word) => [BULK, post('application/x-ndjson', `{"lat":21.03,"lng":105.85,"${word}":1}`)],
    ],
    ['a path', (word) => [`/v1/${word}`]],
    ['a code', (word) => [`/v1/hexcodes/${word}`]],
  ];

  test.each(ASKED)('%s', async (_, ask) => {
    const answerTo = async (word: string): Promise<string> => {
      const { status, text } = await call(server, ...ask(word));
      return `${status} ${plain(text, word)}`;
    };
    const wanted = await answerTo(OTHER);
    for (const name of NAMES) expect(await answerTo(name), name).toBe(wanted);
  });
});

describe('of the command', () => {
  const folder = sharedCommand();

  const POINT = 'lat="21.03" lon="105.85"';
  const gpx = (around: string, within: string): string =>
    `<gpx version="1.1"><metadata>${around}</metadata><wpt ${POINT}><name>a</name>${within}</wpt></gpx>`;
  const GIVEN: readonly [what: string, give: (word: string) => [args: string[], stdin: string]][] = [
    ['an extension', (word) => [['encode', '-', '-o', `x.${word}`], 'lat,lng\n1,2\n']],
    ['a delimiter', (word) => [['encode', '-', '--delimiter', word], 'lat,lng\n1,2\n']],
    ['a format', (word) => [['encode', '-', '--from', word], 'lat,lng\n1,2\n']],
    ['a column', (word) => [['encode', '-', '--lat', word], 'lat,lng\n1,2\n']],
    [
      'a column that is kept',
      (word) => [['encode', '-', '--keep', word], `lat,lng,${word}\n21.03,105.85,x\n`],
    ],
    [
      'an element outside of points',
      (word) => [['encode', '-', '--from', 'gpx'], gpx(`<${word}>1</${word}>`, '')],
    ],
    ['an element of a point', (word) => [['encode', '-', '--from', 'gpx'], gpx('', `<${word}>1</${word}>`)]],
    [
      'an attribute of a point',
      (word) => [['encode', '-', '--from', 'gpx'], gpx('', '').replace(POINT, `${POINT} ${word}="1"`)],
    ],
    ['an attribute', (word) => [['encode', '-', '--from', 'gpx'], gpx('', `<cmt ${word}="1">x</cmt>`)]],
    ['a member', (word) => [['encode', '-', '--from', 'ndjson'], `{"lat":21.03,"lng":105.85,"${word}":1}\n`]],
    [
      'a property',
      (word) => [
        ['encode', '-', '--from', 'geojson', '--to', 'csv'],
        `{"type":"Feature","geometry":{"type":"Point","coordinates":[105.85,21.03]},"properties":{"${word}":1}}\n`,
      ],
    ],
  ];

  test.each(GIVEN)('%s', async (_, give) => {
    const answerTo = async (word: string): Promise<unknown[]> => {
      const [args, stdin] = give(word);
      const { code, stdout, stderr } = await folder.run(args, { stdin });
      return [code, plain(stdout, word), plain(stderr, word)];
    };
    const wanted = await answerTo(OTHER);
    for (const name of NAMES) expect(await answerTo(name), name).toEqual(wanted);
  });
});
