// Recognises an unclear angle, a plus code, a short link, metres, a telephone number or an address among texts
// without a code or a position, so that people are told what to do instead.

import { hasUnclearS } from '../wire/rows/angle-text.js';

/**
 * - `plus_code`: an Open Location Code, `7PH7QVH3+GX` or `QVH3+GX Hà Nội`
 * - `three_words`: three words of what3words
 * - `link`: a link without a position, such as a shortened map link
 * - `metres`: coordinates of UTM, MGRS or VN-2000 whose system is not fully named
 * - `phone`: a telephone number
 * - `unclear_s`: an angle whose `S` may be seconds or south, `19°52'46S`
 * - `address`: a house number and a street, or the parts of an address
 * - `part_of_code`: symbols of a code without the letters of its province, `83RFR`
 */
export type OtherText =
  | 'plus_code'
  | 'three_words'
  | 'link'
  | 'metres'
  | 'phone'
  | 'address'
  | 'unclear_s'
  | 'part_of_code';

const MAX_UNITS = 4096;
const PLUS_CODE =
  /(?<![\p{L}\p{N}+])[23456789CFGHJMPQRVWX]{4,8}\+[23456789CFGHJMPQRVWX]{2,3}(?![\p{L}\p{N}])/iu;
const THREE_WORDS = /(?:^|\s)\/{3}\p{L}+(?:[.。]\p{L}+){2}|(?:what3words\.com|w3w\.co)\/\p{L}/iu;
const LINK = /https?:\/\/\S|(?:^|\s)(?:maps\.app\.goo\.gl|goo\.gl|g\.co|zalo\.me|bit\.ly)\//iu;
/** Two numbers of six or more digits, a grid reference of 100 km, or the name of a system next to numbers. */
const METRES =
  /(?<![\d.,])0?[1-9]\d{5,6}(?:[.,]\d+)?[ ,;:=a-z()]{1,12}0?[1-9]\d{5,6}(?:[.,]\d+)?(?!\d)|(?<!\w)\d{1,2}[c-x] ?[a-z]{2} ?(?:\d{2}){2,5}(?!\w)|(?:VN[- ]?2000|(?<!\p{L})(?:UTM|MGRS)(?!\p{L}))\P{N}*\d{2}/iu;
const PHONE = /^(?:\+|00)?\d(?:[\s.()-]*\d){7,13}$/;
/** Words of addresses; those of one letter have a full stop or a number after them. */
const ADDRESS_WORDS =
  /(?<![\p{L}\p{N}])(?:số nhà|số|nhà|đường|phố|ngõ|ngách|hẻm|kiệt|tổ|thôn|xóm|ấp|phường|quận|huyện|xã|chung cư|tòa|tầng|[đpq]\.?\s*\d+|(?:đ|p|q)\.)(?![\p{L}])/iu;
const HOUSE = /(?:^|,\s*)\d{1,4}[a-z]?(?:[/-]\d{1,4}[a-z]?)*[,\s]+\p{L}{2,}/iu;

/**
 * The apparent kind of a text in which `findCode` finds nothing.
 * @param text of 4,096 UTF-16 units at most; longer ones are nothing
 * @returns null where it may be anything
 */
export function otherText(text: string): OtherText | null {
  if (typeof text !== 'string' || text.length > MAX_UNITS) return null;
  const trimmed = text.normalize('NFC').trim();
  if (THREE_WORDS.test(trimmed)) return 'three_words';
  if (PLUS_CODE.test(trimmed)) return 'plus_code';
  if (LINK.test(trimmed)) return 'link';
  if (hasUnclearS(trimmed)) return 'unclear_s';
  if (METRES.test(trimmed)) return 'metres';
  if (PHONE.test(trimmed)) return 'phone';
  if (HOUSE.test(trimmed) || (ADDRESS_WORDS.test(trimmed) && /\s/.test(trimmed))) return 'address';
  return isPartOfCode(trimmed) ? 'part_of_code' : null;
}

/** One group of symbols, or two, with or without a sign between them. */
const GROUPS = /^[-\s]*[0-9a-tv-z]{1,5}[-\s]*[0-9a-tv-z]{2,5}[-\s]*$/i;

function isPartOfCode(text: string): boolean {
  // Requires letters and digits: words have no digits, and numbers no letters.
  return GROUPS.test(text) && /\d/.test(text) && /[a-z]/i.test(text) && !/^[a-z]{2,3}-/i.test(text);
}
