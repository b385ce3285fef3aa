// The cases of the Autobahn test suite for servers, by their numbers, rebuilt from its published descriptions.
// Compression (12, 13) is left out: the service has none. A peer that echoes every message is expected behind them.

// The byte sequences of the cases 6.5 to 6.23: those of Markus Kuhn's UTF-8 decoder stress test, in its order. Whether
// one is UTF-8 is asked of TextDecoder.

interface Sequence {
  readonly id: string;
  readonly bytes: Buffer;
  readonly isValid: boolean;
}

/**
 * Groups 6.7 to 6.22 in hexadecimal; 6.5 and 6.6 need the Greek word, and 6.12.8, 6.13 and 6.22 are counted out below.
 */
const GROUPS: Readonly<Record<number, string>> = {
  7: '00 c280 e0a080 f0908080',
  8: 'f888808080 fc8480808080',
  9: '7f dfbf efbfbf f48fbfbf',
  10: 'f7bfbfbf fbbfbfbfbf fdbfbfbfbfbf',
  11: 'ed9fbf ee8080 efbfbd f48fbfbf f4908080',
  12: '80 bf 80bf 80bf80 80bf80bf 80bf80bf80 80bf80bf80bf',
  14: 'c0 e080 f08080 f8808080 fc80808080 df efbf f7bfbf fbbfbfbf fdbfbfbfbf',
  15: 'c0e080f08080f8808080fc80808080dfefbff7bfbffbbfbfbffdbfbfbfbf',
  16: 'fe ff fefeffff',
  17: 'c0af e080af f08080af f8808080af fc80808080af',
  18: 'c1bf e09fbf f08fbfbf f887bfbfbf fc83bfbfbfbf',
  19: 'c080 e08080 f0808080 f880808080 fc8080808080',
  20: 'eda080 edadbf edae80 edafbf edb080 edbe80 edbfbf',
  21: 'eda080edb080 eda080edbfbf edadbfedb080 edadbfedbfbf edae80edb080 edae80edbfbf edafbfedb080 edafbfedbfbf',
  22: 'efbfbe efbfbf',
  23: 'efbfb9 efbfba efbfbb efbfbc efbfbd efbfbe efbfbf',
};

function sequencesOf6(greek: Buffer): readonly Sequence[] {
  const groups = new Map<number, Buffer[]>();
  groups.set(5, [
    ...['hello$world', 'hello¢world', 'hello€world', 'hello𤭢world'].map((t) => Buffer.from(t)),
    greek,
  ]);
  groups.set(
    6,
    Array.from({ length: greek.length }, (_, i) => greek.subarray(0, i + 1)),
  );
  for (const [group, hex] of Object.entries(GROUPS)) {
    groups.set(
      Number(group),
      hex.split(' ').map((text) => Buffer.from(text, 'hex')),
    );
  }
  groups.get(12)!.push(Buffer.from(Array.from({ length: 0xbf - 0x80 }, (_, i) => 0x80 + i)));
  // Every start byte of two, three, four, five and six bytes, each followed by a space.
  groups.set(
    13,
    [
      [0xc0, 0xdf],
      [0xe0, 0xef],
      [0xf0, 0xf7],
      [0xf8, 0xfb],
      [0xfc, 0xfd],
    ].map(([from, to]) =>
      Buffer.from(Array.from({ length: to! - from! }, (_, i) => [from! + i, 0x20]).flat()),
    ),
  );
  // The last two code points of each plane but the first are no characters, and still UTF-8.
  for (let plane = 1; plane <= 16; plane++) {
    for (const last of [0xfffe, 0xffff])
      groups.get(22)!.push(Buffer.from(String.fromCodePoint(plane * 65_536 + last)));
  }
  return [...groups]
    .sort(([a], [b]) => a - b)
    .flatMap(([group, sequences]) =>
      sequences.map((bytes, i) => ({ id: `6.${group}.${i + 1}`, bytes, isValid: isUtf8(bytes) })),
    );
}

function isUtf8(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

export type Step = Buffer | 'pause';

export interface WebSocketCase {
  readonly id: string;
  /** Parts that the client sends, each in a segment of its own. */
  readonly steps: readonly Step[];
  /** Frames that must come back before the connection ends, in order. */
  readonly due: readonly Frame[];
  /**
   * How it ends: `open`: by our own close; `closes`: the steps hold a close frame, which is echoed; `fails`: the server
   * must end it; `any`: the suite only looks.
   */
  readonly ends: 'open' | 'closes' | 'fails' | 'any';
  /** Bytes of the largest message. */
  readonly largestBytes: number;
}

export interface Frame {
  readonly opcode: number;
  readonly payload: Buffer;
}

const CONTINUATION = 0;
export const TEXT = 1;
export const BINARY = 2;
export const CLOSE = 8;
const PING = 9;
export const PONG = 10;

interface FrameBits {
  readonly fin?: boolean;
  readonly rsv?: number;
}

/** A frame of a client, with a mask that is not zero. */
export function frame(
  opcode: number,
  payload: Uint8Array | string = '',
  { fin = true, rsv = 0 }: FrameBits = {},
): Buffer {
  const body = Buffer.from(payload as Uint8Array);
  const size = body.length;
  const head = Buffer.alloc(size < 126 ? 2 : size < 65_536 ? 4 : 10);
  head[0] = (fin ? 0x80 : 0) | (rsv << 4) | opcode;
  head[1] = 0x80 | (size < 126 ? size : size < 65_536 ? 126 : 127);
  if (head.length === 4) head.writeUInt16BE(size, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(size), 2);
  const mask = [0x37, 0xfa, 0x21, 0x3d];
  return Buffer.concat([head, Buffer.from(mask), body.map((byte, i) => byte ^ mask[i & 3]!)]);
}

export function closeFrame(code: number, reason: Uint8Array | string = ''): Buffer {
  const payload = Buffer.concat([Buffer.from([code >> 8, code & 255]), Buffer.from(reason as Uint8Array)]);
  return frame(CLOSE, payload);
}

const cut = (bytes: Buffer, sizeBytes: number): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / sizeBytes) }, (_, i) =>
    bytes.subarray(i * sizeBytes, (i + 1) * sizeBytes),
  );

/** The frames of one message, of the given sizes. */
function fragments(opcode: number, payload: Buffer, sizeBytes: number): Buffer[] {
  const parts = payload.length === 0 ? [payload] : cut(payload, sizeBytes);
  return parts.map((part, i) =>
    frame(i === 0 ? opcode : CONTINUATION, part, { fin: i === parts.length - 1 }),
  );
}

/** The same steps sent frame by frame, octet by octet, or as one segment. */
const octets = (steps: readonly Buffer[]): Buffer[] => cut(Buffer.concat(steps), 1);
const whole = (steps: readonly Buffer[]): Buffer[] => [Buffer.concat(steps)];

const echo = (opcode: number, payload: Uint8Array | string): Frame => ({
  opcode,
  payload: Buffer.from(payload as Uint8Array),
});

let cases: WebSocketCase[] = [];

function add(
  id: string,
  steps: readonly Step[],
  due: readonly Frame[],
  ends: WebSocketCase['ends'] = 'open',
  largestBytes = Math.max(0, ...due.map(({ payload }) => payload.length)),
): void {
  cases.push({ id, steps, due, ends, largestBytes });
}

function addFraming(): void {
  for (const [part, opcode] of [
    [1, TEXT],
    [2, BINARY],
  ] as const) {
    const fill = opcode === TEXT ? '*' : '\xfe';
    for (const [i, size] of [0, 125, 126, 127, 128, 65_535, 65_536, 65_536].entries()) {
      const payload = Buffer.from(fill.repeat(size), 'latin1');
      const bytes = frame(opcode, payload);
      add(`1.${part}.${i + 1}`, i === 7 ? cut(bytes, 997) : [bytes], [echo(opcode, payload)]);
    }
  }
}

function addPings(): void {
  const binary = Buffer.from([0, 255, 254, 253, 252, 251, 0, 255]);
  const long = Buffer.alloc(125, 0xfe);
  for (const [i, payload] of [Buffer.alloc(0), Buffer.from('Hello, world!'), binary, long].entries()) {
    add(`2.${i + 1}`, [frame(PING, payload)], [echo(PONG, payload)]);
  }
  add('2.5', [frame(PING, Buffer.alloc(126, 0xfe))], [], 'fails');
  add('2.6', octets([frame(PING, long)]), [echo(PONG, long)]);
  add('2.7', [frame(PONG)], []);
  add('2.8', [frame(PONG, 'unsolicited')], []);
  add('2.9', [frame(PONG, 'unsolicited'), frame(PING, 'ping')], [echo(PONG, 'ping')]);
  const ten = Array.from({ length: 10 }, (_, i) => `payload-${i}`);
  const pings = ten.map((text) => frame(PING, text));
  const pongs = ten.map((text) => echo(PONG, text));
  add('2.10', pings, pongs);
  add('2.11', octets(pings), pongs);
}

function addReservedBits(): void {
  const text = frame(TEXT, 'Hello');
  const heard = [echo(TEXT, 'Hello')];
  const bad = (rsv: number, opcode = TEXT): Buffer => frame(opcode, opcode === CLOSE ? '' : 'Hello', { rsv });
  const ping = frame(PING);
  add('3.1', [bad(1)], [], 'fails');
  add('3.2', whole([text, bad(2), ping]), heard, 'fails');
  add('3.3', [text, bad(3), ping], heard, 'fails');
  add('3.4', octets([text, bad(4), ping]), heard, 'fails');
  add('3.5', [bad(5, BINARY)], [], 'fails');
  add('3.6', [bad(6, PING)], [], 'fails');
  add('3.7', [bad(7, CLOSE)], [], 'fails');
}

function addOpcodes(): void {
  const text = frame(TEXT, 'Hello');
  const heard = [echo(TEXT, 'Hello')];
  const ping = frame(PING);
  for (const [part, first] of [
    [1, 3],
    [2, 11],
  ] as const) {
    add(`4.${part}.1`, [frame(first)], [], 'fails');
    add(`4.${part}.2`, [frame(first + 1, 'reserved')], [], 'fails');
    add(`4.${part}.3`, whole([text, frame(first + 2), ping]), heard, 'fails');
    add(`4.${part}.4`, [text, frame(first + 3, 'reserved'), ping], heard, 'fails');
    add(`4.${part}.5`, octets([text, frame(first + 4, 'reserved'), ping]), heard, 'fails');
  }
}

function addFragmentation(): void {
  const part = (opcode: number, text: string, fin: boolean): Buffer => frame(opcode, text, { fin });
  const two = [part(TEXT, 'fragment1', false), part(CONTINUATION, 'fragment2', true)];
  const both = echo(TEXT, 'fragment1fragment2');
  add('5.1', [part(PING, 'fragment1', false), two[1]!], [], 'fails');
  add('5.2', [part(PONG, 'fragment1', false), two[1]!], [], 'fails');
  add('5.3', whole(two), [both]);
  add('5.4', two, [both]);
  add('5.5', octets(two), [both]);
  const pinged = [two[0]!, frame(PING, 'ping'), two[1]!];
  const pongedBoth = [echo(PONG, 'ping'), both];
  add('5.6', whole(pinged), pongedBoth);
  add('5.7', pinged, pongedBoth);
  add('5.8', octets(pinged), pongedBoth);
  const text = frame(TEXT, 'Hello');
  for (const [from, fin] of [
    [9, true],
    [12, false],
  ] as const) {
    const orphan = [part(CONTINUATION, 'non-continuation', fin), text];
    add(`5.${from}`, whole(orphan), [], 'fails');
    add(`5.${from + 1}`, orphan, [], 'fails');
    add(`5.${from + 2}`, octets(orphan), [], 'fails');
  }
  add(
    '5.15',
    whole([...two, part(CONTINUATION, 'fragment3', false), part(TEXT, 'fragment4', true)]),
    [both],
    'fails',
  );
  for (const [id, fin] of [
    ['5.16', false],
    ['5.17', true],
  ] as const) {
    const pair = [part(CONTINUATION, 'fragment1', fin), part(TEXT, 'fragment2', true)];
    add(id, [...pair, ...pair], [], 'fails');
  }
  add('5.18', [part(TEXT, 'fragment1', false), part(TEXT, 'fragment2', true)], [], 'fails');
  const five = [
    part(TEXT, 'fragment1', false),
    part(CONTINUATION, 'fragment2', false),
    frame(PING, 'pongme 1!'),
    'pause' as const,
    part(CONTINUATION, 'fragment3', false),
    part(CONTINUATION, 'fragment4', false),
    frame(PING, 'pongme 2!'),
    part(CONTINUATION, 'fragment5', true),
  ];
  const fiveDue = [
    echo(PONG, 'pongme 1!'),
    echo(PONG, 'pongme 2!'),
    echo(TEXT, 'fragment1fragment2fragment3fragment4fragment5'),
  ];
  add('5.19', five, fiveDue);
  add(
    '5.20',
    five.flatMap((step): Step[] => (step === 'pause' ? [step] : octets([step]))),
    fiveDue,
  );
}

function addTexts(): void {
  const part = (opcode: number, payload: Buffer | string, fin: boolean): Buffer =>
    frame(opcode, payload, { fin });
  add('6.1.1', [frame(TEXT)], [echo(TEXT, '')]);
  add('6.1.2', [part(TEXT, '', false), part(0, '', false), part(0, '', true)], [echo(TEXT, '')]);
  add('6.1.3', [part(TEXT, '', false), part(0, 'middle', false), part(0, '', true)], [echo(TEXT, 'middle')]);
  const valid = Buffer.from('Hello-µ@ßöäüàá-UTF-8!!');
  const greek = Buffer.from('κόσμε');
  add('6.2.1', [frame(TEXT, valid)], [echo(TEXT, valid)]);
  add('6.2.2', fragments(TEXT, valid, 11), [echo(TEXT, valid)]);
  add('6.2.3', fragments(TEXT, valid, 1), [echo(TEXT, valid)]);
  add('6.2.4', fragments(TEXT, greek, 1), [echo(TEXT, greek)]);
  const surrogate = Buffer.concat([greek, Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('edited')]);
  add('6.3.1', [frame(TEXT, surrogate)], [], 'fails');
  add('6.3.2', fragments(TEXT, surrogate, 1), [], 'fails');
  const beyond = Buffer.concat([greek, Buffer.from([0xf4, 0x90, 0x80, 0x80]), Buffer.from('edited')]);
  const bytes = frame(TEXT, beyond);
  const headBytes = bytes.length - beyond.length;
  for (const [i, ends] of [
    [greek.length, greek.length + 4],
    [greek.length + 1, greek.length + 2],
  ].entries()) {
    const [a, b] = ends as [number, number];
    const pieces = [beyond.subarray(0, a), beyond.subarray(a, b), beyond.subarray(b)];
    const frames = pieces.map((piece, at) => part(at === 0 ? TEXT : 0, piece, at === 2));
    add(`6.4.${i + 1}`, [frames[0]!, 'pause', frames[1]!, 'pause', frames[2]!], [], 'fails');
    const [from, to] = [headBytes + a, headBytes + b];
    const chops = [bytes.subarray(0, from), bytes.subarray(from, to), bytes.subarray(to)];
    add(`6.4.${i + 3}`, [chops[0]!, 'pause', chops[1]!, 'pause', chops[2]!], [], 'fails');
  }
  for (const { id, bytes: sequence, isValid } of sequencesOf6(greek)) {
    add(id, [frame(TEXT, sequence)], isValid ? [echo(TEXT, sequence)] : [], isValid ? 'open' : 'fails');
  }
}

function addClosing(): void {
  const text = frame(TEXT, 'Hello World!');
  const heard = echo(TEXT, 'Hello World!');
  const close = closeFrame(1000);
  add('7.1.1', [text, close], [heard], 'closes');
  add('7.1.2', whole([close, close]), [], 'closes');
  add('7.1.3', whole([close, frame(PING)]), [], 'closes');
  add('7.1.4', whole([close, text]), [], 'closes');
  add('7.1.5', whole([frame(TEXT, 'a', { fin: false }), close, frame(0, 'b')]), [], 'closes');
  const large = Buffer.alloc(256 * 1024, '*');
  add('7.1.6', [frame(TEXT, large), text, close, frame(PING)], [echo(TEXT, large), heard], 'closes');
  add('7.3.1', [frame(CLOSE)], [], 'closes');
  add('7.3.2', [frame(CLOSE, 'a')], [], 'fails');
  add('7.3.3', [close], [], 'closes');
  add('7.3.4', [closeFrame(1000, 'Hello World!')], [], 'closes');
  add('7.3.5', [closeFrame(1000, '*'.repeat(123))], [], 'closes');
  add('7.3.6', [closeFrame(1000, '*'.repeat(124))], [], 'fails');
  add(
    '7.5.1',
    [closeFrame(1000, Buffer.from([0xce, 0xba, 0xe1, 0xbd, 0xb9, 0xed, 0xa0, 0x80]))],
    [],
    'fails',
  );
  const valid = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999];
  for (const [i, code] of valid.entries()) add(`7.7.${i + 1}`, [closeFrame(code)], [], 'closes');
  const invalid = [0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999];
  for (const [i, code] of invalid.entries()) add(`7.9.${i + 1}`, [closeFrame(code)], [], 'fails');
  add('7.13.1', [closeFrame(5000)], [], 'any');
  add('7.13.2', [closeFrame(65_535)], [], 'any');
}

function addSizes(): void {
  const MIB = 2 ** 20;
  for (const [offset, opcode] of [
    [0, TEXT],
    [1, BINARY],
  ] as const) {
    const of = (size: number): Buffer => Buffer.alloc(size, opcode === TEXT ? '*' : 0xfe);
    for (const [i, mib] of [1 / 16, 1 / 4, 1, 4, 8, 16].entries()) {
      add(`9.${1 + offset}.${i + 1}`, [frame(opcode, of(mib * MIB))], [echo(opcode, of(mib * MIB))]);
    }
    for (let i = 0; i < 9; i++) {
      const payload = of(4 * MIB);
      add(
        `9.${3 + offset}.${i + 1}`,
        whole(fragments(opcode, payload, 64 * 4 ** i)),
        [echo(opcode, payload)],
        'open',
        4 * MIB,
      );
    }
    for (let i = 0; i < 6; i++) {
      add(`9.${5 + offset}.${i + 1}`, cut(frame(opcode, of(MIB)), 64 * 2 ** i), [echo(opcode, of(MIB))]);
    }
    for (const [i, size] of [0, 16, 64, 256, 1024, 4096].entries()) {
      add(
        `9.${7 + offset}.${i + 1}`,
        Array.from({ length: 1000 }, () => frame(opcode, of(size))),
        Array.from({ length: 1000 }, () => echo(opcode, of(size))),
      );
    }
  }
  const long = Buffer.alloc(65_536, '*');
  add('10.1.1', fragments(TEXT, long, 1300), [echo(TEXT, long)]);
}

/** All cases but those of sizes. */
export function webSocketCases(): readonly WebSocketCase[] {
  cases = [];
  const parts = [addFraming, addPings, addReservedBits, addOpcodes, addFragmentation, addTexts, addClosing];
  for (const part of parts) part();
  return cases;
}

/** Group 9 and 10: some hundred megabytes in all. */
export function sizeCases(): readonly WebSocketCase[] {
  cases = [];
  addSizes();
  return cases;
}
