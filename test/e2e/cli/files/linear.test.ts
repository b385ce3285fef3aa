// The work of every textual reader is bounded by its bytes, at every place of its format: the small twin of `npm run
// proof -- linear`.
import { expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { hostilePiece, LinearWork } from '../../../support/files/linear.js';
import { randomFrom } from '../../../support/open-world.js';
import { sharedFolder } from '../../../support/shared.js';

const folder = sharedFolder('linear');
const work = new LinearWork(await Hexcodes.load(), folder);
const random = randomFrom(1);
const PIECES = Array.from({ length: 5 }, () => hostilePiece(random));
/** Met: a line of them took time with its square. */
const HEADS = ['|', '\r', '|+Z ', '\r\t', '<!-->', '-- \n', '/**/', '{ '];
/** Comments, sections, tags and references, whole and begun. */
const XML = [
  ...[
    '<!-- - -->',
    '<!-- ',
    '- -',
    '<c ',
    '&lt;]]&gt;',
    '<![CDATA[x]]>',
    '<![CDATA[',
    '<a b="',
    '<x/>',
    '<x{n}/>',
  ],
  ...['a ', ` b{n}="x"`, `a='"' `, '&a;&', '&#65;&amp;', '&#1', '_x00', '<?x y?>', '<a><a><a></a></a></a>'],
  ...['<c/>', '<si/>', '<si><r><t>a</t></r></si>', '<r><t>a</t></r>', '""m', 'y;', '['],
];

test.each(LinearWork.places)('%s', async (place) => {
  const pieces = /^(?:gpx|kml|xlsx)/.test(place) ? [...PIECES, ...XML] : [...PIECES];
  if (place === 'csv header') pieces.push('c{n},');
  for (const piece of pieces) expect(await work.faultOf(place, piece)).toBeUndefined();
});

test.each(['message', 'head'] as const)('a text that is read as a %s', async (reader) => {
  for (const piece of [...PIECES, ...HEADS]) expect(await work.faultOfText(reader, piece)).toBeUndefined();
});
