// The pages of a flat column of a row group, unpacked: which of their rows have a value, and where the values begin.

import { readRleBitPackedHybrid } from 'hyparquet/src/encoding.js';
import type { UnpackedPages } from './codecs.js';
import { PageBytes, type SoundChunk } from './sound-chunk.js';

export interface PlainPage {
  readonly isDictionary: boolean;
  /** Whether its values are indexes in the dictionary, plain, or neither. */
  readonly isIndexed: boolean;
  readonly isPlain: boolean;
  /** At its first value. */
  readonly page: PageBytes;
  /** Rows, or entries of a dictionary. */
  readonly count: number;
  /** 1 for each row that has a value; null where all have one. */
  readonly levels: Uint8Array | null;
}

/** @param unpacked has the pages of the chunk, which were checked */
export function* plainPages(
  { chunk: { metadata, path }, pages }: SoundChunk,
  unpacked: UnpackedPages,
): Generator<PlainPage> {
  const { codec } = metadata;
  const isOptional = path.at(-1)?.element.repetition_type === 'OPTIONAL';
  for (const { header, body } of pages) {
    const v2 = header.type === 'DATA_PAGE_V2' ? header.data_page_header_v2 : undefined;
    let page: PageBytes;
    let levels: PageBytes | null = null;
    if (v2 === undefined) {
      page = new PageBytes(unpacked.again(codec, body, header.uncompressed_page_size));
      if (header.type === 'DICTIONARY_PAGE') {
        const count = header.dictionary_page_header?.num_values ?? 0;
        yield { isDictionary: true, isIndexed: false, isPlain: true, page, count, levels: null };
        continue;
      }
      if (header.type !== 'DATA_PAGE') continue;
      if (isOptional) levels = page.part(page.word());
    } else {
      const head = new PageBytes(body);
      head.skip(v2.repetition_levels_byte_length);
      levels = head.part(v2.definition_levels_byte_length);
      if (!isOptional) levels = null;
      const rest = body.subarray(head.at);
      const plainBytes = header.uncompressed_page_size - head.at;
      page = new PageBytes(v2.is_compressed === false ? rest : unpacked.again(codec, rest, plainBytes));
    }
    const count = (v2 ?? header.data_page_header)?.num_values ?? 0;
    const encoding = (v2 ?? header.data_page_header)?.encoding;
    let each: Uint8Array | null = null;
    if (levels !== null && !isAllDefined(levels, count)) {
      each = new Uint8Array(count);
      if (levels.left > 0)
        readRleBitPackedHybrid({ view: levels.view, offset: levels.at }, 1, each, levels.left);
    }
    const isIndexed = encoding === 'RLE_DICTIONARY' || encoding === 'PLAIN_DICTIONARY';
    yield { isDictionary: false, isIndexed, isPlain: encoding === 'PLAIN', page, count, levels: each };
  }
}

/** How many of the rows have a value. */
export function presentOf(levels: Uint8Array | null, count: number): number {
  if (levels === null) return count;
  let present = 0;
  for (const one of levels) present += one;
  return present;
}

/** Whether levels are one run of ones. */
function isAllDefined(levels: PageBytes, count: number): boolean {
  const look = new PageBytes(levels.bytes.subarray(levels.at));
  if (look.left === 0) return false;
  const header = look.varint();
  return header % 2 === 0 && header / 2 >= count && look.left > 0 && look.byte() === 1;
}

/** The indexes of a page's values in its dictionary. */
export function indexesIn(page: PageBytes, count: number): Uint32Array {
  const indexes = new Uint32Array(count);
  if (count === 0) return indexes;
  const width = page.byte();
  if (width > 0) readRleBitPackedHybrid({ view: page.view, offset: page.at }, width, indexes, page.left);
  return indexes;
}
