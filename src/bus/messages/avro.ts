// Messages in Avro as producers with a schema registry send them: a zero byte, the schema id, the value. Messages are
// read as the JSON of their values. The optional package avsc decodes them.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Schema, Type } from 'avsc';
import { AnswerTooLong, textWithin } from '../bus.js';
import { EngineFault } from '../engine.js';
import { MessageLater, UnreadableMessage } from './message-shape.js';

type Avsc = typeof import('avsc');

const PACKAGE = 'avsc';
const PACKAGE_VERSION = '5.7.9';
const FRAME_BYTES = 5;
const REGISTRY_TIMEOUT_MS = 5000;
/** A registry's schemas are some kilobytes. */
const MAX_SCHEMA_BYTES = 4 * 1024 * 1024;
const RETRY_MS = 1000;
/** Lifetime of a rejected schema: a registry may receive it after the first message. */
const REFUSED_MS = 10_000;
const encoder = new TextEncoder();

export class AvroReader {
  /** Types by schema id; rejections are cached for a while, network errors are not. */
  readonly #types = new Map<number, Promise<Type>>();

  /** @throws EngineFault where the package is missing, or the address is not valid */
  static async open(registry: string): Promise<AvroReader> {
    const url = URL.canParse(registry) ? new URL(registry) : undefined;
    if (url === undefined || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search)
      throw new EngineFault(
        '--schema-registry must be an address as http://registry:8081, without user and query',
      );
    try {
      // avsc is a CommonJS module.
      const { default: avsc } = (await import('avsc')) as unknown as { default: Avsc };
      readBlocksAsTheyAre(avsc);
      return new AvroReader(avsc, url.href.replace(/\/$/, ''));
    } catch (cause) {
      const { code, message } = cause as NodeJS.ErrnoException;
      if (code !== 'ERR_MODULE_NOT_FOUND' || !message.includes(`'${PACKAGE}'`)) throw cause;
      throw new EngineFault(
        `avro needs the package ${PACKAGE}: npm install ${PACKAGE}@${PACKAGE_VERSION}`,
        undefined,
        { cause },
      );
    }
  }

  private constructor(
    private readonly avsc: Avsc,
    private readonly registry: string,
  ) {}

  /**
   * The value of a message as JSON. Bytes become `base64:…`, decimals and integers beyond 2^53 text with all digits.
   * @throws UnreadableMessage; MessageLater where the registry does not answer
   */
  async jsonOf(bytes: Uint8Array): Promise<Uint8Array> {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (buffer.length <= FRAME_BYTES || buffer[0] !== 0)
      throw new UnreadableMessage(
        'it is not Avro of a schema registry: a zero byte, four of the schema, the value',
      );
    const type = await this.#typeOf(buffer.readUInt32BE(1));
    try {
      return encoder.encode(JSON.stringify(type.fromBuffer(buffer.subarray(FRAME_BYTES)), plain));
    } catch (cause) {
      throw new UnreadableMessage(`its value is not of its schema: ${(cause as Error).message}`, { cause });
    }
  }

  #typeOf(schema: number): Promise<Type> {
    const known = this.#types.get(schema);
    if (known !== undefined) return known;
    const asked = this.#ask(schema);
    this.#types.set(schema, asked);
    asked.catch((error: unknown) => {
      const forget = (): boolean => this.#types.delete(schema);
      if (error instanceof MessageLater) forget();
      else setTimeout(forget, REFUSED_MS).unref();
    });
    return asked;
  }

  async #ask(schema: number): Promise<Type> {
    const path = `${this.registry}/schemas/ids/${schema}`;
    let answer: Response;
    let text: string;
    try {
      answer = await fetch(path, { signal: AbortSignal.timeout(REGISTRY_TIMEOUT_MS) });
      text = answer.ok ? await textWithin(answer, MAX_SCHEMA_BYTES) : '';
    } catch (cause) {
      if (cause instanceof AnswerTooLong) throw new UnreadableMessage(`${path}: ${cause.message}`, { cause });
      await sleep(RETRY_MS, undefined, { ref: false });
      throw new MessageLater(`${path} does not answer`, { cause });
    }
    // The connection of one that is not read is closed.
    if (!answer.ok) await answer.body?.cancel().catch(() => {});
    if (answer.status === 404) throw new UnreadableMessage(`the registry has no schema ${schema}`);
    if (!answer.ok) {
      await sleep(RETRY_MS, undefined, { ref: false });
      throw new MessageLater(`${path} answers ${answer.status}`);
    }
    try {
      const { schema: found, schemaType = 'AVRO' } = JSON.parse(text) as {
        schema: string;
        schemaType?: string;
      };
      if (schemaType !== 'AVRO') throw new Error(`it is of the kind ${schemaType}`);
      return this.avsc.Type.forSchema(JSON.parse(found) as Schema, {
        // Wraps every union: otherwise some unions cannot be read.
        wrapUnions: 'always',
        omitRecordMethods: true,
        logicalTypes: { decimal: decimalOf(this.avsc) },
        registry: { long: longOf(this.avsc) },
      });
    } catch (cause) {
      throw new UnreadableMessage(`schema ${schema} cannot be used: ${(cause as Error).message}`, { cause });
    }
  }
}

interface Tap {
  readonly pos: number;
  isValid(): boolean;
  readLong(): number;
  readString(): string;
}
interface Reading {
  _read(tap: Tap): unknown;
}

/**
 * Arrays and maps come in blocks that begin with a count of items. The package makes as many as the count says, whether
 * or not the message has them: 13 bytes filled the memory, or were read without end.
 */
function readBlocksAsTheyAre({ types: { ArrayType, MapType } }: Avsc): void {
  const eachItem = (tap: Tap, read: () => void): void => {
    for (let count = tap.readLong(); count !== 0; count = tap.readLong()) {
      // The size of the block in bytes follows.
      if (count < 0) tap.readLong();
      for (let left = Math.abs(count); left > 0; left--) {
        const before = tap.pos;
        read();
        if (!tap.isValid()) throw new Error('an array or a map ends after the message');
        if (tap.pos === before) throw new Error('an array has items without bytes');
      }
    }
  };
  Object.assign(ArrayType.prototype, {
    _read(this: { itemsType: Reading }, tap: Tap): unknown[] {
      const items: unknown[] = [];
      eachItem(tap, () => items.push(this.itemsType._read(tap)));
      return items;
    },
  });
  Object.assign(MapType.prototype, {
    _read(this: { valuesType: Reading }, tap: Tap): object {
      // Any key is a member, __proto__ too.
      const members = Object.create(null) as Record<string, unknown>;
      eachItem(tap, () => {
        members[tap.readString()] = this.valuesType._read(tap);
      });
      return members;
    },
  });
}

/** Whether a value is wrapped with the name of its union branch. */
const isBranch = (value: unknown): value is { unwrap(): unknown } =>
  typeof value === 'object' && value !== null && !Object.hasOwn(value, 'unwrap') && 'unwrap' in value;

/** Unwraps a union; bytes must not look like a text of digits. */
function plain(this: Record<string, unknown>, key: string): unknown {
  const given = this[key];
  const value = isBranch(given) ? given.unwrap() : given;
  return Buffer.isBuffer(value) ? `base64:${value.toString('base64')}` : value;
}

/** Integers of 64 bits: numbers where exact, otherwise text. */
const longOf = ({ types }: Avsc): Type =>
  types.LongType.__with({
    fromBuffer: (bytes: Buffer) => {
      const value = bytes.readBigInt64LE();
      return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
    },
    ...Object.fromEntries(
      ['toBuffer', 'fromJSON', 'toJSON', 'isValid', 'compare'].map((name) => [name, onlyRead]),
    ),
  } as Parameters<typeof types.LongType.__with>[0]);

function onlyRead(): never {
  throw new Error('values are only read');
}

/** Decimals as text with all digits: their bytes could be those of digits by chance. */
function decimalOf({ types }: Avsc): typeof types.LogicalType {
  return class extends types.LogicalType {
    #scale = 0;

    override _fromValue(bytes: Buffer): string {
      const unsigned = BigInt(`0x0${bytes.toString('hex')}`);
      const value = BigInt.asIntN(8 * bytes.length, unsigned);
      const digits = String(value < 0n ? -value : value).padStart(this.#scale + 1, '0');
      const at = digits.length - this.#scale;
      return `${value < 0n ? '-' : ''}${digits.slice(0, at)}${this.#scale === 0 ? '' : `.${digits.slice(at)}`}`;
    }

    constructor(schema: Schema, options?: unknown) {
      super(schema, options as never);
      this.#scale = Number((schema as { scale?: unknown }).scale ?? 0);
    }

    override _toValue = onlyRead;
    override _resolve = onlyRead;
  } as unknown as typeof types.LogicalType;
}
