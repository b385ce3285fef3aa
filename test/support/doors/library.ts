// The library as Node has it, and as the single file that browsers load.

import { pathToFileURL } from 'node:url';
import type * as Library from '#hexcodes';
import { Hexcodes } from '#hexcodes';
import type { Door, Encoded, OpenDoor, Position, Status } from './door.js';
import { nothing } from './door.js';

const STATUSES: Record<string, Status> = {
  OUTSIDE_COVERAGE: 'NOT_FOUND',
  NOT_A_COORDINATE: 'INVALID_REQUEST',
};
const POINT_STATUSES: readonly Status[] = ['OK', 'NOT_FOUND', 'INVALID_REQUEST', 'INVALID_HEXCODES'];

/** Records as the library and frames have them. */
export function recordsToCodes(records: Uint8Array): Encoded[] {
  const bytes = Buffer.from(records.buffer, records.byteOffset, records.byteLength);
  return Array.from({ length: bytes.length / 20 }, (_, i) => ({
    code: bytes.toString('latin1', 20 * i, 20 * i + 19).replace(/\0+$/, '') || null,
    status: POINT_STATUSES[bytes[20 * i + 19]!]!,
  }));
}

export const pairsOf = (positions: readonly Position[]): Float64Array<ArrayBuffer> =>
  Float64Array.from(positions.flatMap(({ lat, lng }) => [lat, lng]));

function single(library: Hexcodes, isError: (error: unknown) => error is { code: string }): OpenDoor {
  return {
    async encode(positions, resolution) {
      return positions.map(({ lat, lng }) => {
        try {
          return { code: library.encode(lat, lng, { resolution }).hexcodes, status: 'OK' };
        } catch (error) {
          if (!isError(error)) throw error;
          return { code: null, status: STATUSES[error.code]! };
        }
      });
    },
    async decode(texts) {
      return texts.map((text) => library.decode(text) ?? nothing);
    },
    async canonical(texts) {
      return texts.map((text) => library.read(text)?.hexcodes ?? null);
    },
    async refusal(files) {
      try {
        Hexcodes.from(files);
        return null;
      } catch (error) {
        return (error as Error).message;
      }
    },
  };
}

const hasCode = (error: unknown): error is { code: string } =>
  error instanceof Error && typeof (error as { code?: unknown }).code === 'string';

export const LIBRARY: readonly Door[] = [
  { name: 'library', open: async () => single(await Hexcodes.load(), hasCode) },
  {
    name: 'library, batches',
    async open() {
      const library = await Hexcodes.load();
      return {
        encode: async (positions, resolution) =>
          recordsToCodes(library.encodeBatch(pairsOf(positions), resolution)),
      };
    },
  },
  {
    name: 'browser bundle',
    async open() {
      const url = pathToFileURL('src/hexcodes/dist/web/hexcodes.js').href;
      const bundle = (await import(/* @vite-ignore */ url)) as typeof Library;
      const { refusal: _, ...door } = single(await bundle.Hexcodes.load(), hasCode);
      return door;
    },
  },
];
