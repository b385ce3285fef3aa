// Says of a text in which nothing is found whether it is a code with a slip, or something else. It comes with the first
// such text.
import { type OtherText, otherText } from '../../hexcodes/geometry/other-text.js';
import { type Suggestion, type SuggestOptions, suggest } from '../../hexcodes/geometry/suggest.js';
import type { Hexcodes } from '../../hexcodes/library/hexcodes.js';
import { explainTexts } from '../words/explain-texts.js';
import { addTexts, type TextKey } from '../words/texts.js';

addTexts(explainTexts);

const OTHER_WORDS = {
  plus_code: 'isPlusCode',
  three_words: 'isThreeWords',
  link: 'isLink',
  metres: 'isMetres',
  phone: 'isPhone',
  address: 'isAddress',
  unclear_s: 'isUnclearS',
  part_of_code: 'isPartOfCode',
} as const satisfies Record<OtherText, TextKey>;

/** The codes that may be meant, else what the text seems to be; and what is said of it. */
interface Explained {
  readonly meant: readonly Suggestion[];
  readonly other: OtherText | null;
  readonly words: TextKey;
}

export function explained(library: Hexcodes, text: string, options: SuggestOptions): Explained {
  const meant = suggest(library, text, options);
  if (meant.length > 0) return { meant, other: null, words: 'didYouMean' };
  const other = otherText(text);
  return { meant, other, words: other === null ? 'unreadable' : OTHER_WORDS[other] };
}
