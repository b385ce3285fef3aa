// Bulk bodies that the property tests do not draw, the limit of a header row, and lines as they come.
import { describe, expect, test } from 'vitest';
import { Hexcodes } from '#hexcodes';
import { openKernel, randomFrom } from '../../support/open-world.js';
import {
  BlockBuffers,
  type BulkJob,
  type BulkRequest,
  type ConvertedBlock,
  framesAnswerBytes,
  ROW_STATUSES,
  Wire,
} from '../../support/wire.js';

const BULK_INPUT_ERROR = expect.objectContaining({ name: 'BulkInputError' });

const BLOCK_BYTES = 262_144;
const MAX_HEADER_BYTES = 65_536;
const MAX_NDJSON_ROW_BYTES = 65_536;

const inChunks = (bytes: Buffer, chunkBytes: number): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, i) =>
    bytes.subarray(i * chunkBytes, (i + 1) * chunkBytes),
  );

// Bulk bodies that the property tests do not draw: header rows, rows and lines that are too long, long bodies in
// random chunks, frames in and out, refusals.
describe('bodies', () => {
  const wire = new Wire(openKernel());
  const library = new Hexcodes(openKernel());

  function request(text: string, options: Partial<BulkRequest> = {}): BulkRequest {
    const [operation, input, output = input] = text.split(' ') as [
      BulkRequest['operation'],
      BulkRequest['input'],
    ];
    return { operation, input, output, resolution: 13, prefix: '', ...options };
  }

  interface Answer {
    text: string;
    bytes: Buffer;
    blocks: ConvertedBlock[];
  }

  const buffers = new BlockBuffers();

  function answer(asked: BulkRequest, chunks: readonly (Uint8Array | string)[]): Answer {
    const { head, job, blocks: cut } = wire.cut(asked, chunks, [], buffers);
    const blocks = cut.map((block) => {
      expect(block.length).toBeLessThanOrEqual(BLOCK_BYTES + MAX_NDJSON_ROW_BYTES);
      return wire.block(job, block);
    });
    const bytes = Buffer.concat([head, ...blocks.map((block) => block.bytes)]);
    const pieces = cut.length === 0 ? [] : wire.pieces(job, cut);
    expect(Buffer.concat([head, ...pieces]).equals(bytes)).toBe(true);
    for (const block of cut) buffers.giveBack(block);
    return { text: bytes.toString(), bytes, blocks };
  }

  const HANOI = library.encode(21.0288, 105.8525, 13);

  describe('header rows', () => {
    test.each([
      ...['lat,x', 'lat,latitude,lng', 'lat,lng,status', 'lat,"lng', 'l\u0000at,lng', '', '\n\n'].map(
        (header) => ['encode csv', header] as const,
      ),
      ['decode csv', 'lat,lng'],
      ['decode csv', 'hexcodes,lat'],
    ] as const)('%s of %j is refused', (asked, header) => {
      expect(() => answer(request(asked), [header])).toThrow(BULK_INPUT_ERROR);
    });
  });

  describe('rows that are too long', () => {
    test('CSV ends with an error that names the limit', () => {
      const body = `lat,lng\n1,"${'x'.repeat(BLOCK_BYTES)}`;
      expect(() => answer(request('encode csv'), [body])).toThrow(
        `A row is longer than ${BLOCK_BYTES} bytes`,
      );
    });

    test('NDJSON fails the line and goes on, however long it is', () => {
      for (const size of [
        MAX_NDJSON_ROW_BYTES + 1,
        2 * MAX_NDJSON_ROW_BYTES,
        BLOCK_BYTES,
        3 * BLOCK_BYTES + 7,
      ]) {
        const note = '{"lat":21.0288,"lng":105.8525,"note":""}';
        const long = note.replace('""', `"${'x'.repeat(size - note.length)}"`);
        const body = `[21.0288,105.8525]\n${long}\n[21.0288,105.8525]\n`;
        for (const step of [body.length, 65_536, 10_007]) {
          const chunks = Array.from({ length: Math.ceil(body.length / step) }, (_, i) =>
            body.slice(i * step, (i + 1) * step),
          );
          const rows = answer(request('encode ndjson'), chunks)
            .text.trimEnd()
            .split('\n')
            .map((line) => JSON.parse(line));
          expect(rows.map(({ status }) => status)).toEqual(['OK', 'INVALID_REQUEST', 'OK']);
          expect(rows[1].message).toBe(`item is longer than ${MAX_NDJSON_ROW_BYTES} bytes`);
        }
      }
      const justFits = `{"lat":21.0288,"lng":105.8525,"note":"${'x'.repeat(MAX_NDJSON_ROW_BYTES - 40)}"}`;
      expect(justFits.length).toBe(MAX_NDJSON_ROW_BYTES);
      expect(JSON.parse(answer(request('encode ndjson'), [justFits]).text).status).toBe('OK');
    });
  });

  describe('tables as spreadsheets write them', () => {
    const code = (answered: string): string[] =>
      answered
        .trimEnd()
        .split(/\r?\n/)
        .slice(1)
        .map((row) => row.split(/[,;\t|](?=[A-Z]+-)/)[1]?.split(/[,;\t|]/)[0] ?? '')
        .filter((text) => text !== '');

    test.each([
      ['no-break spaces', 'lat;lng\n\u00a021,0288\u00a0;105,8525 \u00a0\n'],
      ['many digits', 'lat;lng\n 21,02880000000000000000001;105,85250000000000000000001\n'],
      ['many quoted digits', 'lat,lng\n" 21,02880000000000000000001",105.85250000000000000000001\n'],
      ['a quoted header', '"a;b\n""c";lat;lng\n"x;y";21,0288;105,8525\n'],
      ['commas in other columns', '"name, full";"note";vĩ độ;kinh độ\nx;y;21,0288;105,8525\n'],
      ['decomposed names', 'Tên,Vĩ độ,Kinh độ\nx,21.0288,105.8525\n'.normalize('NFD')],
      ['long', 'id,lat,long\n1,21.0288,105.8525\n'],
      ['x and y beside lat and lng', 'x,y,lat,lng\n583960,2325461,21.0288,105.8525\n'],
    ])('are read: %s', (_, body) => {
      expect(code(answer(request('encode csv'), [body]).text)).toEqual([HANOI.hexcodes]);
      const json = JSON.parse(answer(request('encode csv ndjson'), [body]).text);
      expect(json).toMatchObject({ hexcodes: HANOI.hexcodes, lat: 21.0288, lng: 105.8525, status: 'OK' });
      const single = [...Buffer.from(body)].map((byte) => Uint8Array.of(byte));
      expect(answer(request('encode csv'), single).text).toBe(answer(request('encode csv'), [body]).text);
    });

    test('a first line sep= names the delimiter and is left out', () => {
      for (const first of ['sep=;\r\n', '\ufeffsep=;\n', '"sep=;"\n']) {
        const { text } = answer(request('encode csv'), [`${first}lat,x;lat;lng\n1;21,0288;105,8525\n`]);
        expect(text.split('\n')[0]).toBe('lat,x;lat;lng;hexcodes;resolution;admin_code;status');
        expect(code(text)).toEqual([HANOI.hexcodes]);
      }
    });

    test.each(['1,234,567', '21,5.5', '21.5,5', ',5', '2 1', '21,0288x', '', ' '])(
      '%j is not a number',
      (text) => {
        const { text: csv } = answer(request('encode csv'), [`lat;lng\n${text};105.85\n`]);
        expect(csv).toBe(
          `lat;lng;hexcodes;resolution;admin_code;status\n${text};105.85;;13;;INVALID_REQUEST\n`,
        );
      },
    );

    test('a message about one coordinate does not blame the other', () => {
      const { text } = answer(request('encode csv ndjson'), ['lat;lng;resolution\n 21,5 ;x; 7\n']);
      expect(JSON.parse(text)).toMatchObject({
        lat: 21.5,
        lng: null,
        resolution: 7,
        details: [{ parameter: 'lng' }],
      });
    });
  });

  describe('ragged rows', () => {
    test('under a wide header are padded in the kernel and beside it', () => {
      const wide = `${'c,'.repeat(20_000)}lat,lng\n`;
      const { text } = answer(request('encode csv'), [`${wide}${'1\n'.repeat(150)}`]);
      const lines = text.split('\n');
      expect(lines[1]).toBe(`1${','.repeat(20_002)},13,,INVALID_REQUEST`);
      expect(new Set(lines.slice(1, -1))).toEqual(new Set([lines[1]]));
      expect(lines).toHaveLength(152);
    });

    test('that would be padded with many times their own size end the body', () => {
      const wide = `${'c,'.repeat(20_000)}lat,lng\n`;
      const body = `${wide}${'1\n'.repeat(1000)}`;
      expect(() => answer(request('encode csv'), [body])).toThrow('far fewer fields than the header row');
      expect(() => answer(request('encode csv'), [body])).toThrow(BULK_INPUT_ERROR);
      expect(answer(request('encode csv ndjson'), [body]).blocks.length).toBeGreaterThan(0);
    });
  });

  describe('bytes that are not UTF-8', () => {
    const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');
    test('are answered after the blocks before them', () => {
      const rows = 'Trần,21.0288,105.8525\n'.repeat(30_000);
      const reader = wire.reader(request('encode csv'));
      const good = reader.push(Buffer.from(`name,lat,lng\n${rows}`)).length;
      const wrong = Buffer.concat([bytesOf('\xff'), Buffer.from(rows)]);
      expect(good).toBeGreaterThan(1);
      expect(() => reader.push(wrong)).toThrow('Byte 720014 of the body is not UTF-8');
      expect(() => reader.push(Buffer.from(rows))).toThrow(/^Byte \d+ of the body is not UTF-8/);
      expect(() => reader.end()).toThrow(BULK_INPUT_ERROR);
      expect(reader.flush()).toEqual([]);

      const later = wire.reader(request('encode csv'));
      const chunk = Buffer.concat([Buffer.from(`name,lat,lng\n${rows}`), wrong]);
      expect(later.push(chunk)).toHaveLength(good);
      expect(() => later.end()).toThrow('Byte 720014 of the body is not UTF-8');
    });
  });

  test('a long body has one answer in any chunks', () => {
    const random = randomFrom(5);
    const points = Array.from({ length: 30_000 }, () => [8 + 15 * random(), 98 + 11 * random()] as const);
    const notes = ['', 'x', '"a, b"', '"\n"', 'Phố', '"""', 'y'.repeat(200)].map((n) =>
      n === '"""' ? '""""' : n,
    );
    const csv = Buffer.from(
      `note,lat,lng\n${points.map(([a, b], i) => `${notes[i % 7]},${a},${b}\n`).join('')}`,
    );
    const lines = Buffer.from(
      points.map(([lat, lng], id) => `${JSON.stringify({ id, lat, lng })}\n`).join(''),
    );
    for (const [asked, body] of [
      [request('encode csv'), csv],
      [request('encode ndjson'), lines],
    ] as const) {
      const whole = answer(asked, [body]);
      for (const most of [900_000, 70_000, 3000]) {
        const chunks: Uint8Array[] = [];
        for (let at = 0; at < body.length; ) {
          const size = 1 + Math.floor(random() * most);
          chunks.push(body.subarray(at, at + size));
          at += size;
        }
        expect(answer(asked, chunks).bytes.equals(whole.bytes)).toBe(true);
      }
      expect(whole.blocks.reduce((sum, { rows }) => sum + rows, 0)).toBe(points.length);
    }
  });

  test('a row whose answer is longer than the kernel has room for leaves in pieces', () => {
    const body = Buffer.from(`hexcodes\nHN\n${'\x01'.repeat(260_000)}\nHN\n`);
    const { job, blocks } = wire.cut(request('decode csv ndjson'), [body]);
    const due = Buffer.concat(blocks.map((block) => wire.block(job, block).bytes));
    const pieces = wire.pieces(job, blocks);
    expect(due.length).toBeGreaterThan(6 * 260_000);
    expect(pieces.length).toBeGreaterThan(1);
    expect(Buffer.concat(pieces).equals(due)).toBe(true);
  });

  describe('frames', () => {
    const FRAMES_JOB = wire.cut(request('encode frames'), []).job;
    function frame(
      operation: 1 | 2,
      resolution: number,
      output: number,
      seq: number,
      body: Uint8Array,
    ): Buffer {
      const head = Buffer.from([1, operation, resolution, output, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
      head.writeUInt32LE(seq, 4);
      head.writeUInt32LE(body.length / (operation === 1 ? 16 : 20), 8);
      return Buffer.concat([head, body]);
    }
    const points = (count: number): Uint8Array =>
      new Uint8Array(
        Float64Array.from({ length: 2 * count }, (_, i) => (i % 2 ? 105 + i / 1000 : 9 + i / 1000)).buffer,
      );
    const awkward = new Uint8Array(
      new Float64Array([21, 105, 5, 179, 91, 0, Number.NaN, 1, 1e-9, 2, -0, 100]).buffer,
    );

    test('are answered one by one, however they are cut', () => {
      const frames = [
        frame(1, 9, 0, 1, points(5)),
        frame(1, 13, 1, 2, points(3)),
        frame(1, 0, 0, 3, points(0)),
        frame(1, 5, 1, 4, points(9000)),
        frame(1, 15, 0, 5, awkward),
      ];
      const wanted = Buffer.concat(frames.map((f) => wire.frame(f)));
      const body = Buffer.concat(frames);
      const asked = request('encode frames');
      expect(answer(asked, [body]).bytes.equals(wanted)).toBe(true);
      for (let cut = 0; cut < 400; cut++)
        expect(answer(asked, [body.subarray(0, cut), body.subarray(cut)]).bytes.equals(wanted)).toBe(true);
      const { blocks } = answer(asked, [body]);
      expect(blocks.reduce((sum, { rows }) => sum + rows, 0)).toBe(9014);
    });

    test('one larger than a block passes whole', () => {
      const large = frame(1, 13, 0, 7, points(65_536));
      const wanted = wire.frame(large);
      const chunks = [large.subarray(0, 100_000), large.subarray(100_000, 600_001), large.subarray(600_001)];
      const { job, blocks } = wire.cut(request('encode frames'), chunks);
      expect(blocks.map(({ length }) => length)).toEqual([large.length]);
      expect(Buffer.from(wire.block(job, blocks[0]!).bytes).equals(wanted)).toBe(true);
    });

    test('that together are more than the kernel has room for are handed on in pieces', () => {
      const counts = [300, 65_536, 65_536, 70];
      const frames = counts.map((count, seq) => frame(1, 13, 0, seq, points(count)));
      const pieces = wire.pieces(FRAMES_JOB, frames);
      const due = frames.map((f) => wire.frame(f));
      expect(pieces.map((piece) => piece.length)).toEqual([32 + 20 * 65_836, 32 + 20 * 65_606]);
      expect(Buffer.concat(pieces).equals(Buffer.concat(due))).toBe(true);
    });

    test('the size of their answers is known before they are converted', () => {
      const random = randomFrom(7);
      const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)]!;
      let bad = 0;
      for (let round = 0; round < 400; round++) {
        const frames = Array.from({ length: 1 + Math.floor(random() * 6) }, (_, seq) => {
          const count = Math.floor(random() * 40);
          const operation = pick([1, 1, 1, 2] as const);
          const body = operation === 1 ? points(count) : new Uint8Array(20 * count).fill(65);
          const made = frame(operation, pick([0, 13, 15, 16]), pick([0, 1, 2]), seq, body);
          if (random() < 0.1) made[12] = 1;
          if (random() < 0.05) made[0] = 9;
          return made;
        });
        const whole = Buffer.concat(frames);
        const block = random() < 0.3 ? whole.subarray(0, Math.floor(random() * whole.length)) : whole;
        const plain = wire.cut(request(pick(['encode frames', 'decode frames'])), []).job;
        const job: BulkJob = random() < 0.1 ? { ...plain, refusal: 'UNAVAILABLE' } : plain;
        const { bytes, failed } = wire.block(job, block);
        bad += failed;
        expect(framesAnswerBytes(job, [block], 1000)).toBe(bytes.length);
        expect(framesAnswerBytes(job, [block, block], 1000)).toBe(2 * bytes.length);
      }
      expect(bad).toBeGreaterThan(100);
      const three = Buffer.concat([1, 2, 3].map((seq) => frame(1, 13, 0, seq, points(1))));
      expect([2, 3].map((most) => framesAnswerBytes(FRAMES_JOB, [three], most))).toEqual([undefined, 3 * 36]);
    });

    test('refused, of any size, leave nothing in the kernel', () => {
      const frames = [
        frame(1, 13, 0, 1, points(3000)),
        frame(1, 16, 0, 2, points(60_000)),
        frame(1, 13, 0, 3, points(3000)),
        frame(1, 13, 2, 4, points(3000)),
        frame(1, 13, 0, 5, points(10)),
      ];
      const due = Buffer.concat(frames.map((f) => wire.frame(f)));
      expect(Buffer.concat(wire.pieces(FRAMES_JOB, frames)).equals(due)).toBe(true);
    });

    test('of a job that refuses get its status and their own number, and no records', () => {
      const refused = frame(1, 9, 0, 7, points(3));
      for (const [refusal, status] of [
        ['OVER_QUERY_LIMIT', 2],
        ['UNAVAILABLE', 3],
      ] as const)
        expect([...wire.bulk(request('encode frames'), refused, { refusal })]).toEqual([
          ...[1, 1, status, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        ]);
    });

    test('of 4,096 points go four to a block; any others whole, none lost, whatever the chunks', () => {
      const usual = Buffer.concat(Array.from({ length: 9 }, (_, seq) => frame(1, 13, 0, seq, points(4096))));
      const lengths = (chunkBytes: number): number[] => {
        const { blocks } = wire.cut(request('encode frames'), inChunks(usual, chunkBytes));
        return blocks.map((block) => block.length / (16 + 16 * 4096));
      };
      expect([usual.length, 524_288, 100_000, 4097].map(lengths)).toEqual(Array(4).fill([4, 4, 1]));

      const random = randomFrom(11);
      // Every pair of the shapes of chunks and of counts below comes once.
      for (let round = 0; round < 126; round++) {
        // In every other round frames of about a block, and now and then what waits is requested in between.
        const isNear = round % 2 === 1;
        const counts = Array.from({ length: isNear ? 6 : 20 }, () =>
          isNear
            ? Math.floor(random() < 0.5 ? 500 * random() : 14_000 + 9000 * random())
            : Math.floor(65_537 * random() ** (1 + (round % 9))),
        );
        const frames = counts.map((count, seq) => frame(1, 13, 0, seq, new Uint8Array(16 * count).fill(seq)));
        const body = Buffer.concat(frames);
        const ends = new Set(
          frames.map((_, i) => frames.slice(0, i + 1).reduce((sum, f) => sum + f.length, 0)),
        );
        const reader = wire.reader(request('encode frames'));
        const blocks: Buffer[] = [];
        for (let at = 0; at < body.length; ) {
          const chunk = body.subarray(at, at + 1 + Math.floor(600_000 * random() ** (round % 7)));
          blocks.push(...reader.push(chunk).map((block) => Buffer.from(block)));
          if (isNear && random() < 0.3) blocks.push(...reader.flush().map((block) => Buffer.from(block)));
          at += chunk.length;
        }
        blocks.push(...reader.end().map((block) => Buffer.from(block)));
        expect(Buffer.concat(blocks).equals(body)).toBe(true);
        let end = 0;
        for (const block of blocks) {
          end += block.length;
          expect(ends.has(end)).toBe(true);
        }
      }
    });

    test('a body that ends inside one, or has none any more, gets a last answer with status 1', () => {
      const good = frame(1, 9, 0, 1, points(5));
      const statusesOf = (bytes: Buffer): number[] => {
        const statuses: number[] = [];
        for (let at = 0; at < bytes.length; ) {
          statuses.push(bytes[at + 2]!);
          at += 16 + 20 * bytes.readUInt32LE(at + 8);
        }
        return statuses;
      };
      const asked = request('encode frames');
      for (const broken of [
        good.subarray(0, 7),
        good.subarray(0, 40),
        Buffer.alloc(16),
        Buffer.alloc(500_000),
      ]) {
        const { bytes, blocks } = answer(asked, [good, broken]);
        expect(statusesOf(bytes)).toEqual([0, 1]);
        expect(blocks.at(-1)?.failed).toBeGreaterThan(0);
      }
      const other = frame(2, 0, 0, 2, new Uint8Array(40));
      const reserved = frame(1, 9, 0, 3, points(1));
      reserved[13] = 1;
      expect(statusesOf(answer(asked, [Buffer.concat([good, other, reserved, good])]).bytes)).toEqual([
        0, 1, 1, 0,
      ]);
    });

    test('become rows of text', () => {
      const body = frame(1, 9, 0, 1, awkward);
      const csv = answer(request('encode frames csv'), [body]).text.trimEnd().split('\n');
      const code = library.encode(21, 105, 9);
      expect(csv).toEqual([
        'lat,lng,hexcodes,resolution,admin_code,status',
        `21,105,${code.hexcodes},9,${code.admin_code},OK`,
        ...['5,179,,9,,NOT_FOUND', '91,0,,9,,INVALID_REQUEST', 'NaN,1,,9,,INVALID_REQUEST'].map((row) =>
          row.replace('NaN', ''),
        ),
        ...['1e-9,2,,9,,NOT_FOUND', '0,100,,9,,NOT_FOUND'],
      ]);
      const json = answer(request('encode frames ndjson'), [body])
        .text.trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(json[0]).toEqual({ ...code, status: 'OK' });
      expect(json.map(({ status, lat }) => [status, lat])).toEqual([
        ['OK', 21],
        ['NOT_FOUND', 5],
        ['INVALID_REQUEST', 91],
        ['INVALID_REQUEST', null],
        ['NOT_FOUND', 1e-9],
        ['NOT_FOUND', 0],
      ]);
      const texts = [HANOI.hexcodes, 'HN', 'a"b', 'é,'];
      const records = Buffer.alloc(80);
      for (const [i, text] of texts.entries()) records.write(text, 20 * i);
      const decoded = frame(2, 0, 0, 1, records);
      const { lat, lng } = library.decode(HANOI.hexcodes)!;
      const back = answer(request('decode frames ndjson'), [decoded])
        .text.trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(back[0]).toEqual({ lat, lng, resolution: 13, hexcodes: HANOI.hexcodes, status: 'OK' });
      expect(back.slice(1).map(({ hexcodes, status }) => [hexcodes, status])).toEqual(
        texts.slice(1).map((text) => [text, 'INVALID_HEXCODES']),
      );
      expect(answer(request('decode frames csv'), [decoded]).text).toBe(
        `hexcodes,lat,lng,resolution,status\n${HANOI.hexcodes},${lat},${lng},13,OK\nHN,,,,INVALID_HEXCODES\n"a""b",,,,INVALID_HEXCODES\n"é,",,,,INVALID_HEXCODES\n`,
      );
    });

    test('are made of rows of text', () => {
      const rows = '[21.0288,105.8525]\n[91,0]\nfoo\n{"lat":5,"lng":179}\n';
      const { bytes, blocks } = answer(request('encode ndjson frames'), [rows]);
      expect([bytes[1], bytes[2], bytes.readUInt32LE(8), bytes.readUInt32LE(12)]).toEqual([1, 0, 4, 3]);
      expect(bytes.subarray(16, 16 + HANOI.hexcodes.length).toString()).toBe(HANOI.hexcodes);
      expect([0, 1, 2, 3].map((i) => bytes[16 + 20 * i + 19])).toEqual([0, 2, 2, 1]);
      expect([...blocks[0]!.byStatus]).toEqual([1, 1, 2, 0, 0, 0]);
      const codes = `hexcodes\n${HANOI.hexcodes}\n${HANOI.hexcodes.split('').join(' ')}\nHN\n`;
      const decoded = answer(request('decode csv frames'), [codes]);
      const { lat, lng } = library.decode(HANOI.hexcodes)!;
      const positions = [0, 1, 2, 3].map((i) => decoded.bytes.readDoubleLE(16 + 8 * i));
      expect(positions).toEqual([lat, lng, lat, lng]);
      expect([...decoded.bytes.subarray(16 + 48)]).toEqual([13, 13, 255, 0, 0, 3]);
    });
  });

  test('a job that refuses answers every row with its status and converts none', () => {
    for (const refusal of ['OVER_QUERY_LIMIT', 'UNAVAILABLE'] as const) {
      const { job, blocks } = wire.cut(request('encode csv'), ['lat,lng\n21.0288,105.8525\n10,106\n']);
      const converted = wire.block({ ...job, refusal }, blocks[0]!);
      expect(Buffer.from(converted.bytes).toString()).toBe(
        `21.0288,105.8525,,13,,${refusal}\n10,106,,13,,${refusal}\n`,
      );
      expect(converted.byStatus[ROW_STATUSES.indexOf(refusal)]).toBe(2);
      const line = '{"hexcodes":"HN-6GHMK-53FMF","id":3}\n';
      const body = JSON.parse(wire.bulk(request('decode ndjson'), line, { refusal }).toString());
      expect([body.status, typeof body.message, body.id]).toEqual([refusal, 'string', 3]);
    }
  });
});

// The limit of a CSV header row, whichever way the row comes.
describe('the limit of a header row', () => {
  /** A header row of a number of bytes, line end included, and a row. */
  const bodyOf = (headerBytes: number): Buffer =>
    Buffer.from(`lat,lng,${'n'.repeat(headerBytes - 9)}\n21,105,x\n`);

  const wire = new Wire(openKernel());
  const read = (body: Buffer, chunkBytes: number, delimiter?: ','): number =>
    wire.cut({ input: 'csv', ...(delimiter && { delimiter }) }, inChunks(body, chunkBytes)).blocks.length;

  for (const delimiter of [undefined, ','] as const)
    for (const chunkBytes of [1000, 65_536, 1e6])
      test(`delimiter ${delimiter ?? 'found'}, chunks of ${chunkBytes}`, () => {
        expect(read(bodyOf(MAX_HEADER_BYTES), chunkBytes, delimiter)).toBe(1);
        expect(() => read(bodyOf(MAX_HEADER_BYTES + 1), chunkBytes, delimiter)).toThrow(
          'The header row is longer than 65536 bytes',
        );
      });
});

// Lines of NDJSON, cut as they come: every line is in the block of the chunk that ends it.
describe('lines', () => {
  const wire = new Wire(openKernel());

  /** Each chunk's blocks, as text. */
  function blocksOf(chunks: readonly string[]): string[][] {
    const reader = wire.reader({ input: 'ndjson' });
    return chunks.map((chunk) =>
      [...reader.push(Buffer.from(chunk)), ...reader.flush()].map((block) => Buffer.from(block).toString()),
    );
  }

  test('a line ends with the chunk that holds its line end, also as its first byte', () => {
    expect(blocksOf(['[1,2]\n[3,4]', '\n', '[5', ',6]', '\n[7,8]\n'])).toEqual([
      ['[1,2]\n'],
      ['[3,4]\n'],
      [],
      [],
      ['[5,6]\n[7,8]\n'],
    ]);
  });

  test('every way to cut three lines into two chunks', () => {
    const body = '[1]\n{"a":2}\n\n3\n';
    for (let at = 1; at < body.length; at++) {
      const blocks = blocksOf([body.slice(0, at), body.slice(at)]);
      const whole = body.lastIndexOf('\n', at - 1) + 1;
      expect(blocks.map((texts) => texts.join(''))).toEqual([body.slice(0, whole), body.slice(whole)]);
    }
  });
});
