// One archive of map tiles on the operator's own disk, in the format PMTiles (version 3): vector tiles by the schema of
// Protomaps' basemap, or pictures. Tiles leave as they lie in the file, compressed or not.
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';
import {
  Compression,
  findTile,
  type Header,
  PMTiles,
  ResolvedValueCache,
  type Source,
  TileType,
  zxyToTileId,
} from 'pmtiles';

/** Media types of the tiles that browsers can draw. */
const TYPES: Partial<Record<TileType, string>> = {
  [TileType.Mvt]: 'application/vnd.mapbox-vector-tile',
  [TileType.Png]: 'image/png',
  [TileType.Jpeg]: 'image/jpeg',
  [TileType.Webp]: 'image/webp',
  [TileType.Avif]: 'image/avif',
};
const ENCODINGS: Partial<Record<Compression, TileEncoding>> = {
  [Compression.None]: 'plain',
  [Compression.Gzip]: 'gzip',
  [Compression.Brotli]: 'br',
};
type TileEncoding = 'plain' | 'gzip' | 'br';

/** Layers of Protomaps' basemap, one of which an archive has at least. */
const SCHEMA = ['earth', 'water', 'roads', 'landuse', 'places', 'boundaries', 'buildings'];

const MAGIC = 'PMTiles';
const VERSION = 3;
const HEADER_BYTES = 127;
/** Depth of directories that the format allows. */
const MOST_DIRECTORIES = 4;
const MOST_ZOOM = 24;
const MIB = 2 ** 20;
/** A larger tile or directory is a damaged one. */
const MOST_PART_BYTES = 16 * MIB;
/** Directories that are kept; one of a usual archive has some ten thousand entries. */
const KEPT_DIRECTORIES = 64;
const VERSION_DIGITS = 12;

/** One sentence for people: what is wrong with the archive. */
class ArchiveFault extends Error {}

/** As the page draws it. */
export interface BasemapInfo {
  readonly isVector: boolean;
  readonly minZoom: number;
  readonly maxZoom: number;
  /** West, south, east and north, degrees. */
  readonly bounds: readonly [number, number, number, number];
}

export interface BasemapTile {
  readonly bytes: Uint8Array;
  readonly encoding: TileEncoding;
}

export class BasemapArchive {
  private constructor(
    readonly info: BasemapInfo,
    /** Names its bytes: another file has another. */
    readonly version: string,
    /** Who made the map, as plain text. */
    readonly attribution: string,
    /** Media type of its tiles. */
    readonly type: string,
    private readonly encoding: TileEncoding,
    private readonly header: Header,
    private readonly source: FileParts,
    private readonly directories: ResolvedValueCache,
  ) {}

  /** @throws Error with one sentence for people */
  static async open(path: string): Promise<BasemapArchive> {
    let file: FileHandle | undefined;
    try {
      file = await open(path);
      return await BasemapArchive.#read(path, file);
    } catch (error) {
      await file?.close();
      throw new Error(`the basemap ${path} ${reasonOf(error)}`, { cause: error });
    }
  }

  static async #read(path: string, file: FileHandle): Promise<BasemapArchive> {
    const { size, isFile } = await file.stat().then((stat) => ({ size: stat.size, isFile: stat.isFile() }));
    if (!isFile) throw new ArchiveFault('is no file');
    const head = new Uint8Array(Math.min(size, HEADER_BYTES));
    await file.read(head, 0, head.length, 0);
    const magic = Buffer.from(head.subarray(0, MAGIC.length)).toString('latin1');
    if (magic !== MAGIC) throw new ArchiveFault('is no PMTiles archive');
    if (head[MAGIC.length] !== VERSION)
      throw new ArchiveFault(
        `is a PMTiles archive of version ${head[MAGIC.length]}, where ${VERSION} is read`,
      );
    if (head.length < HEADER_BYTES) throw cutOff(HEADER_BYTES, size);
    const source = new FileParts(path, file, size);
    const directories = new ResolvedValueCache(KEPT_DIRECTORIES);
    const archive = new PMTiles(source, directories);
    const header = await archive.getHeader();
    checkSize(header, size);
    const type = TYPES[header.tileType];
    const encoding = ENCODINGS[header.tileCompression];
    if (type === undefined)
      throw new ArchiveFault(
        'has tiles of an unknown kind: vector tiles (MVT), PNG, JPEG, WebP and AVIF are served',
      );
    if (encoding === undefined)
      throw new ArchiveFault('has tiles of an unknown compression: none, gzip and Brotli are served');
    const { rootDirectoryOffset, rootDirectoryLength, minZoom, maxZoom } = header;
    if (!(minZoom <= maxZoom && maxZoom <= MOST_ZOOM))
      throw new ArchiveFault(`is damaged: its zooms are ${minZoom} to ${maxZoom}`);
    const root = await directories.getDirectory(source, rootDirectoryOffset, rootDirectoryLength, header);
    if (root.length === 0) throw new ArchiveFault('has no tiles');
    const metadata = Object(await archive.getMetadata()) as Metadata;
    const isVector = header.tileType === TileType.Mvt;
    if (isVector) checkSchema(metadata);
    return new BasemapArchive(
      { isVector, minZoom, maxZoom, bounds: boundsOf(header) },
      createHash('sha256').update(head).digest('hex').slice(0, VERSION_DIGITS),
      textOf(metadata.attribution),
      type,
      encoding,
      header,
      source,
      directories,
    );
  }

  /** A tile as it lies in the archive; undefined: it has none there. */
  async tile(zoom: number, x: number, y: number): Promise<BasemapTile | undefined> {
    const { header, source, directories, encoding } = this;
    if (zoom < header.minZoom || zoom > header.maxZoom) return undefined;
    const id = zxyToTileId(zoom, x, y);
    let { rootDirectoryOffset: offset, rootDirectoryLength: length } = header;
    for (let depth = 0; depth < MOST_DIRECTORIES; depth++) {
      const entry = findTile(await directories.getDirectory(source, offset, length, header), id);
      if (entry === null) return undefined;
      if (entry.runLength > 0) {
        const { data } = await source.getBytes(header.tileDataOffset + entry.offset, entry.length);
        return { bytes: new Uint8Array(data), encoding };
      }
      offset = header.leafDirectoryOffset + entry.offset;
      length = entry.length;
    }
    return undefined;
  }

  close(): Promise<void> {
    return this.source.close();
  }
}

/** Bytes of a tile for a client that does not unpack them. */
export async function unpacked({ bytes, encoding }: BasemapTile): Promise<Uint8Array> {
  if (encoding === 'plain') return bytes;
  const unpack = encoding === 'gzip' ? promisify(gunzip) : promisify(brotliDecompress);
  return unpack(bytes, { maxOutputLength: MOST_PART_BYTES });
}

class FileParts implements Source {
  constructor(
    private readonly path: string,
    private readonly file: FileHandle,
    private readonly size: number,
  ) {}

  getKey(): string {
    return this.path;
  }

  async getBytes(offset: number, length: number): Promise<{ data: ArrayBuffer }> {
    // The first part is asked for before its size is known.
    const wanted = offset === 0 ? Math.min(length, this.size) : length;
    if (!(offset >= 0 && wanted >= 0 && wanted <= MOST_PART_BYTES && offset + wanted <= this.size))
      throw new ArchiveFault(`is damaged: ${length} bytes at ${offset} are named, of ${this.size}`);
    const bytes = new Uint8Array(wanted);
    for (let at = 0; at < wanted; ) {
      const { bytesRead } = await this.file.read(bytes, at, wanted - at, offset + at);
      if (bytesRead === 0) throw new ArchiveFault('has become shorter while it is served');
      at += bytesRead;
    }
    return { data: bytes.buffer };
  }

  close(): Promise<void> {
    return this.file.close();
  }
}

interface Metadata {
  readonly attribution?: unknown;
  readonly vector_layers?: unknown;
}

function checkSize(header: Header, size: number): void {
  const ends = [
    header.rootDirectoryOffset + header.rootDirectoryLength,
    header.jsonMetadataOffset + header.jsonMetadataLength,
    header.leafDirectoryOffset + (header.leafDirectoryLength ?? 0),
    header.tileDataOffset + (header.tileDataLength ?? 0),
  ];
  const end = Math.max(...ends);
  if (end > size) throw cutOff(end, size);
}

const cutOff = (named: number, size: number): ArchiveFault =>
  new ArchiveFault(`is cut off: it should have ${named} bytes and has ${size}`);

function checkSchema({ vector_layers: layers }: Metadata): void {
  const names = Array.isArray(layers) ? layers.map((layer) => String(Object(layer).id)) : [];
  if (names.some((name) => SCHEMA.includes(name))) return;
  const found = names.length === 0 ? 'names no layers' : `has the layers ${names.slice(0, 8).join(', ')}`;
  throw new ArchiveFault(`${found}: the page draws those of Protomaps' basemap, ${SCHEMA.join(', ')}`);
}

function boundsOf({ minLon, minLat, maxLon, maxLat }: Header): BasemapInfo['bounds'] {
  const isBox = minLon < maxLon && minLat < maxLat && Math.abs(minLat) <= 90 && Math.abs(maxLat) <= 90;
  return isBox ? [minLon, minLat, maxLon, maxLat] : [-180, -85, 180, 85];
}

/** The text of an attribution, which is most often a link. */
function textOf(attribution: unknown): string {
  if (typeof attribution !== 'string') return '';
  return attribution
    .replace(/<[^>]*>/g, '')
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
