// An archive of map tiles on the operator's own disk, in the format PMTiles (version 3). The page reads it by byte
// ranges. The service reads header and metadata at its start, and refuses a file that the page cannot draw.
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';
import type { ServeConfig } from '../../config/config.js';

/** Layers of Protomaps' basemap, at least one of which an archive of vector tiles has. */
const SCHEMA = ['earth', 'water', 'roads', 'landuse', 'places', 'boundaries', 'buildings'];

const MAGIC = 'PMTiles';
const VERSION = 3;
const HEADER_BYTES = 127;
const MAX_ZOOM = 24;
const MAX_METADATA_BYTES = 16 * 2 ** 20;
const VERSION_DIGITS = 12;
/** Compressions and kinds of tiles by their numbers in the header. */
const COMPRESSION = { none: 1, gzip: 2, brotli: 3 } as const;
const KIND = { vector: 1, pictures: [2, 3, 4, 5] } as const;

/** A fault of the archive, as the end of a sentence. */
class ArchiveFault extends Error {}

/** The archive as the page draws it. */
export interface BasemapInfo {
  readonly isVector: boolean;
  readonly minZoom: number;
  readonly maxZoom: number;
  /** West, south, east and north, degrees. */
  readonly bounds: readonly [number, number, number, number];
}

export class BasemapArchive {
  private constructor(
    readonly info: BasemapInfo,
    /** Differs between files with different headers. */
    readonly version: string,
    /** Who made the map, as plain text. */
    readonly attribution: string,
    readonly sizeBytes: number,
    private readonly file: FileHandle,
  ) {}

  /** @throws Error with one sentence for people */
  static async open(path: string): Promise<BasemapArchive> {
    let file: FileHandle | undefined;
    try {
      file = await open(path);
      return await BasemapArchive.#read(file);
    } catch (error) {
      await file?.close();
      throw new Error(`the basemap ${path} ${reasonOf(error)}`, { cause: error });
    }
  }

  static async #read(file: FileHandle): Promise<BasemapArchive> {
    const stat = await file.stat();
    if (!stat.isFile()) throw new ArchiveFault('is not a file');
    const head = Buffer.from(await bytesAt(file, 0, Math.min(stat.size, HEADER_BYTES)));
    if (head.toString('latin1', 0, MAGIC.length) !== MAGIC)
      throw new ArchiveFault('is not a PMTiles archive');
    const version = head[MAGIC.length];
    if (version !== VERSION)
      throw new ArchiveFault(`is a PMTiles archive of version ${version}, where ${VERSION} is read`);
    if (head.length < HEADER_BYTES) throw cutOff(HEADER_BYTES, stat.size);
    // Offsets and lengths of the root directory, the metadata, the other directories and the tiles.
    const sections = [8, 24, 40, 56].map((at) =>
      [at, at + 8].map((each) => Number(head.readBigUInt64LE(each))),
    );
    const end = Math.max(...sections.map(([offset, length]) => offset! + length!));
    if (end > stat.size) throw cutOff(end, stat.size);
    const byte = (at: number): number => head.readUInt8(at);
    const [packing, tilePacking, kind] = [byte(97), byte(98), byte(99)];
    const [minZoom, maxZoom] = [byte(100), byte(101)];
    const isVector = kind === KIND.vector;
    if (!isVector && !KIND.pictures.some((each) => each === kind))
      throw new ArchiveFault(
        'has tiles of an unknown kind: vector tiles (MVT), PNG, JPEG, WebP and AVIF are read',
      );
    if (tilePacking !== COMPRESSION.none && tilePacking !== COMPRESSION.gzip)
      throw new ArchiveFault(
        'has tiles of another compression than none and gzip, which browsers cannot unpack',
      );
    if (!(minZoom <= maxZoom && maxZoom <= MAX_ZOOM))
      throw new ArchiveFault(`is damaged: its zooms are ${minZoom} to ${maxZoom}`);
    const [offset = 0, length = 0] = sections[1]!;
    const metadata = await metadataOf(file, offset, length, packing);
    if (isVector) checkSchema(metadata);
    return new BasemapArchive(
      { isVector, minZoom, maxZoom, bounds: boundsOf(head) },
      createHash('sha256').update(head).digest('hex').slice(0, VERSION_DIGITS),
      textOf(metadata.attribution),
      stat.size,
      file,
    );
  }

  /** @throws Error where the file has become shorter */
  bytes(offset: number, length: number): Promise<Uint8Array> {
    return bytesAt(this.file, offset, length);
  }

  close(): Promise<void> {
    return this.file.close();
  }
}

// The operator's map that a configuration names.

type BasemapConfig = Pick<ServeConfig, 'basemap' | 'tilesUrl'>;

/**
 * The archive that is served; undefined: none.
 * @throws Error with one sentence for people
 */
export async function openBasemap(config: BasemapConfig): Promise<BasemapArchive | undefined> {
  const { basemap, tilesUrl } = config;
  if (basemap === undefined) return undefined;
  if (tilesUrl !== undefined) throw new Error('--basemap and --tiles-url name two maps: give one of them');
  return BasemapArchive.open(basemap);
}

async function bytesAt(file: FileHandle, offset: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; ) {
    const { bytesRead } = await file.read(bytes, at, length - at, offset + at);
    if (bytesRead === 0) throw new ArchiveFault('has become shorter while it is read');
    at += bytesRead;
  }
  return bytes;
}

interface Metadata {
  readonly attribution?: unknown;
  readonly vector_layers?: unknown;
}

async function metadataOf(
  file: FileHandle,
  offset: number,
  length: number,
  packing: number,
): Promise<Metadata> {
  if (length > MAX_METADATA_BYTES) throw new ArchiveFault(`is damaged: its metadata have ${length} bytes`);
  const packed = await bytesAt(file, offset, length);
  const limit = { maxOutputLength: MAX_METADATA_BYTES };
  const text =
    packing === COMPRESSION.gzip
      ? await promisify(gunzip)(packed, limit)
      : packing === COMPRESSION.brotli
        ? await promisify(brotliDecompress)(packed, limit)
        : packed;
  return Object(JSON.parse(Buffer.from(text).toString())) as Metadata;
}

const cutOff = (named: number, size: number): ArchiveFault =>
  new ArchiveFault(`is cut off: it should have ${named} bytes and has ${size}`);

function checkSchema({ vector_layers: layers }: Metadata): void {
  const names = Array.isArray(layers) ? layers.map((layer) => String(Object(layer).id)) : [];
  if (names.some((name) => SCHEMA.includes(name))) return;
  const found = names.length === 0 ? 'names no layers' : `has the layers ${names.slice(0, 8).join(', ')}`;
  throw new ArchiveFault(`${found}: the page draws those of Protomaps' basemap, ${SCHEMA.join(', ')}`);
}

function boundsOf(head: Buffer): BasemapInfo['bounds'] {
  const deg = (at: number): number => head.readInt32LE(at) / 1e7;
  const [west, south, east, north] = [deg(102), deg(106), deg(110), deg(114)];
  const isBox = west < east && south < north && Math.abs(south) <= 90 && Math.abs(north) <= 90;
  return isBox ? [west, south, east, north] : [-180, -85, 180, 85];
}

/** The text of an attribution, which is most often a link. */
function textOf(attribution: unknown): string {
  if (typeof attribution !== 'string') return '';
  return attribution
    .replace(/<[^<>]*>/g, '')
    .replace(/&copy;/g, '©')
    .replace(/&nbsp;/g, ' ')
    .replace(/&amp;/g, '&')
    .trim();
}

function reasonOf(error: unknown): string {
  if (error instanceof ArchiveFault) return error.message;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'is not there';
  if (code === 'EISDIR') return 'is a folder';
  if (code === 'EACCES') return 'may not be read';
  return `is damaged: ${message}`;
}
