// Documents of XML by a seed, well-formed and damaged, in pieces of any size: the reader accepts and refuses what
// expat does, and finds the same elements, attributes and texts. The judge gets all documents in one process of
// Python.

import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { XmlReader } from '#dist/tables/xml/xml-reader.js';
import { below, inPieces, mutated, pick, type Random, randomFrom } from '../../support/random.js';

/** A start with name and attributes, or an end with name and the text that is directly in the element. */
type Event =
  | readonly ['+', name: string, attributes: readonly (readonly string[])[]]
  | readonly ['-', string, string];
interface Reading {
  readonly events: readonly Event[];
  /** Why the document is refused; empty for one that is read. */
  readonly fault: string;
}

const JUDGE = `
import base64, json, sys
from xml.parsers import expat
def read(content):
    parser, events, texts = expat.ParserCreate(), [], []
    parser.ordered_attributes = True
    def start(name, attributes):
        events.append(['+', name, [list(each) for each in zip(attributes[::2], attributes[1::2])]])
        texts.append([])
    def end(name):
        events.append(['-', name, ''.join(texts.pop())])
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = lambda text: texts[-1].append(text)
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        return {'events': events, 'fault': str(error) or 'fault'}
    return {'events': events, 'fault': ''}
for line in sys.stdin:
    print(json.dumps(read(base64.b64decode(line))))`;
const judged = (documents: readonly Buffer[]): Reading[] =>
  spawnSync('python3', ['-c', JUDGE], {
    input: documents.map((each) => `${each.toString('base64')}\n`).join(''),
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  })
    .stdout.trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Reading);
const hasPython = spawnSync('python3', ['-c', 'import xml.parsers.expat']).status === 0;

function read(pieces: readonly Uint8Array[]): Reading {
  const events: Event[] = [];
  const open: string[] = [];
  try {
    const reader = new XmlReader({
      open(name, attributes, qualified) {
        expect(name).toBe(qualified.slice(qualified.indexOf(':') + 1));
        const entries = attributes.entries();
        for (const [each, value] of entries) expect(attributes.get(each)).toBe(value);
        expect(attributes.count).toBe(entries.length);
        events.push(['+', qualified, entries]);
        open.push(qualified);
      },
      close(_, text) {
        events.push(['-', open.pop()!, text]);
      },
    });
    for (const piece of pieces) reader.push(piece);
    reader.end();
  } catch (error) {
    if ((error as Error).name !== 'TableError') throw error;
    return { events, fault: (error as Error).message };
  }
  return { events, fault: '' };
}

const LONG = 'a'.repeat(40);
/** `Aa` and `BB` have the same hash. */
const NAMES = `Aa BB a b:c trkpt mã _x-1.2 __proto__ constructor ${LONG}`.split(' ');
const TEXTS =
  ' , ,\n,\t,\r\n,\r,x,Hồ,😀,",\',>,]],&amp;,&lt;,&#65;,&#x1f600;,&#13;,&#xA;,&quot;&apos;&gt;'.split(',');
const BETWEEN = ['', '', '\n', '<!-- - -->', '<!---->', '<?x y?>', '<?pi?>', '<!-- <a> & -->'];
/** Markup and parts of it, most of which damage a document; bytes as letters of Latin-1. */
const SPLICES = [
  '< > & " \' / = : 1 ]]> -- <!-- --> <![CDATA[ <? ?> </a> <a> <a/> <!ELEMENT <?XML?> &x; &nbsp; &#0; &#xD800;',
  '&#x110000; &#X41; \0 \x01 \x7f \xc2\x85 \xff \xef\xbf\xbf \xed\xa0\x80 \xc0\x80 \xef\xbb\xbf \n',
]
  .flatMap((each) => each.split(' '))
  .concat(' ', ' a="1"', ' a="1" a="2"', " a='<'", ' a=1', ' a', '<?xml version="1.0"?>')
  .concat('<!DOCTYPE a>', '<!DOCTYPE a [<!ENTITY x "y">]>');

const many = (most: number, random: Random, make: () => string): string =>
  Array.from({ length: below(most + 1, random) }, make).join('');
const text = (random: Random): string => many(4, random, () => pick(TEXTS, random));

function element(random: Random, depth: number): string {
  const name = pick(NAMES, random);
  const names = NAMES.filter(() => random() < 0.3).concat(
    random() < 0.05 ? Array.from({ length: 13 }, (_, i) => `n${i % pick([12, 13], random)}`) : [],
  );
  const attributes = names.map((each) => {
    const quote = pick(['"', "'"], random);
    const equals = pick(['=', '=', ' = ', '\n=\t'], random);
    return `${pick([' ', '\n', ' \t'], random)}${each}${equals}${quote}${text(random).replaceAll(quote, '')}${quote}`;
  });
  const head = name + attributes.join('') + pick(['', ' ', '\r\n'], random);
  if (random() < 0.2) return `<${head}/>`;
  const inside = many(depth > 0 ? 4 : 0, random, () => {
    if (random() < 0.15) return `<![CDATA[${pick(['', ']]', '<&>', 'x\r\ny', ']'], random)}]]>`;
    return text(random) + pick(BETWEEN, random) + (random() < 0.6 ? element(random, depth - 1) : '');
  });
  return `<${head}>${inside}${text(random)}</${name}${pick(['', '', ' ', '\n'], random)}>`;
}

const ENCODINGS = ['utf8', 'utf8', 'utf8', 'utf8', 'utf16le', 'latin1'] as const;
function document(random: Random): Buffer {
  const encoding = pick(ENCODINGS, random);
  const declared = {
    utf8: pick(['', ' encoding="UTF-8"'], random),
    utf16le: '',
    latin1: " encoding='ISO-8859-15'",
  }[encoding];
  const isDeclared = encoding === 'latin1' || random() < 0.7;
  const declaration = isDeclared
    ? `<?xml version="1.0"${declared}${pick(['', ' standalone="yes"'], random)}?>`
    : '';
  const type =
    random() < 0.1
      ? pick(['<!DOCTYPE a>', '<!DOCTYPE a SYSTEM "x">\n', `<!DOCTYPE a PUBLIC "-//x" 'y' >`], random)
      : '';
  const around = (): string => pick(BETWEEN, random);
  const whole = declaration + around() + type + around() + element(random, 4) + around();
  if (encoding === 'latin1') return Buffer.from(whole.replace(/[^\0-\x7f]+/g, 'é'), 'latin1');
  const mark = encoding === 'utf16le' || random() < 0.1 ? '\ufeff' : '';
  const bytes = Buffer.from(mark + whole, encoding);
  return encoding === 'utf16le' && random() < 0.5 ? bytes.swap16() : bytes;
}

const FOURTH = 'expat knows the names of the fourth edition';
/** Where the reader may differ from expat 2.5, by reason: patterns of both faults, of the document and its names. */
const ALLOWED: readonly (readonly [reason: string, own: RegExp, theirs: RegExp, document?: RegExp])[] = [
  ['declarations of a document type are refused', /a document type that/, /^$/],
  ['an entity may be one of a document type elsewhere', /not a reference of XML/, /^$/, /<!DOCTYPE/],
  ['documents may follow one another', /^$/, /^junk after document element/],
  ['documents may follow one another', /^$/, /invalid token/, />\s*\ufeff/],
  ['a version begins with 1.', /illegal instruction/, /^$/, /^<\?xml\s+version\s*=\s*["'](?!1\.\d+["'])/],
  ['half of a surrogate pair is not of UTF-16', /not of its encoding/, /^$/, /\ufffd/],
  ['encodings have other names', /^its encoding .* is not known/, /^$/],
  ['encodings have other names', /^$/, /./, /^<\?xml[^>]*encoding\s*=\s*["'](?!(?:UTF-8|ISO-8859-15)["'])/],
  [FOURTH, /^$/, /invalid token/, /\0.*[^\0-\x7fãé]|<(?:\?|!DOCTYPE)[^<>]*[^\0-\x7f]/s],
  [FOURTH, /illegal (?:nodeName|attribute name) ".*[^\0-\x7f]/, /^$/],
  [FOURTH, /illegal instruction/, /^$/, /<\?[^<>]*[^\0-\x7f]/],
];
const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);

test.skipIf(!hasPython)(
  `expat reads the same documents, seed ${seed}${hasPython ? '' : ' (python3 is missing)'}`,
  () => {
    const random = randomFrom(seed);
    const documents = Array.from({ length: Number(process.env.DOCUMENTS ?? 2000) }, () => {
      const whole = document(random);
      return random() < 0.3 ? whole : mutated(whole, random, SPLICES, 2);
    });
    const counts = new Map<string, number>();
    for (const [i, theirs] of judged(documents).entries()) {
      const own = read(inPieces(documents[i]!, random, pick([1, 4, 40, 400], random)));
      const isBig = documents[i]![0] === 0xfe;
      const isWide = isBig || documents[i]![0] === 0xff;
      const content = new TextDecoder(isBig ? 'utf-16be' : isWide ? 'utf-16le' : 'utf-8').decode(
        documents[i],
      );
      const where = `document ${i}: ${JSON.stringify([own.fault, theirs.fault, content])}`;
      const names = own.events
        .map((each) => (each[0] === '+' ? [each[1], ...each[2].map(([name]) => name)] : ''))
        .join();
      const isSame = (own.fault === '') === (theirs.fault === '');
      const allowed = ALLOWED.find(
        ([, ofOwn, ofTheirs, ofContent = /^/]) =>
          ofOwn.test(own.fault) && ofTheirs.test(theirs.fault) && ofContent.test(`${content}\0${names}`),
      );
      expect(isSame || allowed !== undefined, where).toBe(true);
      const outcome = isSame ? (own.fault === '' ? 'read' : 'refused') : allowed![0];
      counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
      // One that is refused has the same elements up to the fault that the other meets first.
      const count = outcome === 'read' ? undefined : Math.min(own.events.length, theirs.events.length);
      expect(own.events.slice(0, count), where).toEqual(theirs.events.slice(0, count));
    }
    if (process.env.DOCUMENTS !== undefined) console.log(counts);
    expect(counts.get('read')).toBeGreaterThan(documents.length / 4);
    expect(counts.get('refused')).toBeGreaterThan(documents.length / 4);
  },
);
