// Settings: a map of the operator's under the hexagons of the console.
import { textOr } from '../readers.js';
import { Fault } from '../setting.js';

export const CONSOLE = {
  /**
   * Address of raster tiles, with {z}, {x} and {y}, or of a style of MapLibre; undefined: the console has no other map
   * than its own.
   */
  tilesUrl: {
    variable: 'HEXCODES_TILES_URL',
    flag: '--tiles-url',
    argument: '<url>',
    help: 'map under the hexagons of the console: raster tiles with {z}, {x} and {y}, or a style',
    read: tilesUrl,
  },
  tilesAttribution: {
    variable: 'HEXCODES_TILES_ATTRIBUTION',
    flag: '--tiles-attribution',
    argument: '<text>',
    help: 'who made that map, as the console shows it',
    read: textOr(''),
  },
};

const PLACEHOLDERS = ['{z}', '{x}', '{y}'];

function tilesUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new Fault('must be an address that begins with https:// or http://');
  if (/[{}%]/.test(url.host)) throw new Fault('must name one host: only its path may have {z}, {x} and {y}');
  const found = PLACEHOLDERS.filter((placeholder) => text.includes(placeholder));
  if (found.length > 0 && found.length < PLACEHOLDERS.length)
    throw new Fault('has some of {z}, {x} and {y}: raster tiles need all three, a style none');
  if (found.length > 0 && /\.(?:pbf|mvt)(?:\?|$)/.test(text))
    throw new Fault(
      'names vector tiles, which look like nothing without a style: give the address of the style',
    );
  return text;
}
