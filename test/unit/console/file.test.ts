// Files in the page: what is read of them, what the conversion writes and counts, and the points that the map draws.
import { readdirSync, readFileSync } from 'node:fs';
import { unzipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import { ADMIN_UNITS, Hexcodes } from '#hexcodes';
import { broughtCases, broughtFile, SHOP_CODES } from '../../support/brought-files.js';
import {
  answerTo,
  conversionOf,
  converted as convertedFile,
  PointList,
  type PointsToDraw,
  requestFor,
} from '../../support/console-conversion.js';
import { consoleModule } from '../../support/console-module.js';
import { randomFrom } from '../../support/open-world.js';

const { workbookOf } = await consoleModule<{ workbookOf(table: Blob, delimiter: string): Promise<Blob> }>(
  'file/workbook-writer.ts',
);

// A file that is converted in the page: the bytes that the command would write, and what is counted beside them.
describe('conversion', async () => {
  const hexcodes = await Hexcodes.load();

  function converted(text: string, input = 'csv', chunkBytes = Number.POSITIVE_INFINITY) {
    const bytes = Buffer.from(text);
    const request = requestFor(bytes, input, 13);
    const conversion = conversionOf(hexcodes.kernel, request);
    const answers: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += chunkBytes)
      answers.push(...conversion.push(bytes.subarray(at, at + chunkBytes)));
    answers.push(...conversion.end());
    return { text: Buffer.concat(answers).toString(), tally: conversion.tally };
  }

  test('CSV, in chunks of any size', () => {
    const csv = 'id,lat,lng\n1,21.0288,105.8525\n2,10.7769,106.7009\n';
    const whole =
      'id,lat,lng,hexcodes,resolution,admin_code,status\n' +
      '1,21.0288,105.8525,HN-6GHP4-83RFR,13,HN,OK\n2,10.7769,106.7009,HCM-GXC6M-MGY2X,13,HCM,OK\n'.replace(
        'HCM-GXC6M-MGY2X',
        hexcodes.encode(10.7769, 106.7009, 13).hexcodes,
      );
    for (const size of [1, 7, 1000]) expect(converted(csv, 'csv', size).text).toBe(whole);
    const { tally } = converted(csv);
    expect([tally.rows, tally.byStatus[0], tally.byAdmin.reduce((a, b) => a + b, 0)]).toEqual([2, 2, 2]);
  });

  test('a quote inside of a field, as of inches, joins no rows: each has its own position, in a workbook, too', async () => {
    const random = randomFrom(14);
    const places = [
      ['21.0288', '105.8525', 'HN'],
      ['10.7769', '106.7009', 'HCM'],
      ['16.0678', '108.2208', 'DNG'],
    ] as const;
    const words = [
      'x',
      '5" pipe',
      'a "b" c',
      '7"',
      '',
      ' "',
      '"a,b"',
      '"line\nbreak"',
      '"5"" pipe"',
      '"a;""b"""',
    ];
    const any = <Each>(list: readonly Each[]): Each => list[Math.floor(random() * list.length)]!;
    for (const delimiter of [',', ';', '\t', '|'])
      for (let n = 0; n < 30; n++) {
        const rows = Array.from({ length: 6 }, () => {
          const [lat, lng, admin] = any(places);
          return { admin, text: [any(words), `${lat}N`, `${lng}E`, any(words)].join(delimiter) };
        });
        const names = ['name', 'latitude', 'longitude', 'note'].join(delimiter);
        const text = `${[names, ...rows.map((row) => row.text)].join('\n')}\n`;
        const { text: csv } = await convertedFile(Buffer.from(text), 'a.csv');
        const admins = [...csv.matchAll(/\b(?:HN|HCM|DNG)(?=.OK\r?\n)/g)].map(([admin]) => admin);
        expect(admins, text).toEqual(rows.map(({ admin }) => admin));
        const workbook = unzipSync(
          new Uint8Array(await (await workbookOf(new Blob([csv]), delimiter)).arrayBuffer()),
        );
        const sheet = Buffer.from(workbook['xl/worksheets/sheet1.xml']!).toString();
        expect(sheet.match(/<row/g)).toHaveLength(1 + rows.length);
      }
  });

  test('tables of any dialect, with and without names: no row is lost, and each has its own code', async () => {
    const random = randomFrom(15);
    const any = <Each>(list: readonly Each[]): Each => list[Math.floor(random() * list.length)]!;
    const places = [
      [21.0288, 105.8525],
      [10.7769, 106.7009],
      [22.3364, 103.8438],
    ] as const;
    const spellings: readonly [names: readonly string[], write: (lat: number, lng: number) => string[]][] = [
      [['latitude', 'longitude'], (lat, lng) => [`${lat}`, `${lng}`]],
      [['Kinh độ', 'Vĩ độ'], (lat, lng) => [`${lng}`.replace('.', ','), `${lat}`.replace('.', ',')]],
      [['lat', 'lng'], (lat, lng) => [`${lat}N`, `${lng}E`]],
      [['tọa độ'], (lat, lng) => [`${lat}, ${lng}`]],
      [['location'], (lat, lng) => [`https://www.google.com/maps?q=${lat},${lng}`]],
      [['geom'], (lat, lng) => [`POINT (${lng} ${lat})`]],
      [['geometry'], (lat, lng) => [JSON.stringify({ type: 'Point', coordinates: [lng, lat] })]],
    ];
    const others = [
      'x',
      '61.5',
      '',
      '2024-05-01',
      '5" pipe',
      'a;b',
      'c|d',
      'e, f',
      'two\nlines',
      ' ',
      '0901234567',
    ];
    let chosen = 0;
    for (let n = 0; n < 400; n++) {
      const delimiter = any([',', ';', '\t', '|']);
      const quoted = (field: string): string =>
        field.includes(delimiter) || /^["{]|\n/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
      const [names, write] = any(spellings);
      const before = Math.floor(random() * 3);
      const rowOf = (fields: readonly string[], other: (column: number) => string): string =>
        [...Array.from({ length: before }, (_, i) => other(i)), ...fields.map(quoted), other(before)].join(
          delimiter,
        );
      const truth = Array.from({ length: 1 + Math.floor(random() * 4) }, () => any(places));
      const rows = truth.map(([lat, lng]) => rowOf(write(lat, lng), () => quoted(any(others))));
      const hasNames = random() < 0.5;
      if (hasNames) rows.unshift(rowOf(names, (column) => `name${column}`));
      if (hasNames && random() < 0.2) rows.unshift('Báo cáo tháng 5');
      if (random() < 0.1) rows.unshift(`sep=${delimiter}`, '');
      const text = `${random() < 0.2 ? '\ufeff' : ''}${rows.join(any(['\n', '\r\n']))}\n`;
      try {
        const answer = await convertedFile(Buffer.from(text), any(['a.csv', 'a.tsv', 'a.txt']));
        const codes = [...answer.text.matchAll(/([A-Z]{2,3}-\w{5}-\w{5}).13.[A-Z]{2,3}.OK\r?\n/g)];
        const wanted = truth.map(([lat, lng]) => hexcodes.encode(lat, lng, 13).hexcodes);
        expect(
          codes.map(([, code]) => code),
          text,
        ).toEqual(wanted);
        expect(answer.text.match(/.(?:OK|INVALID_\w+|NOT_FOUND)\r?\n/g), text).toHaveLength(wanted.length);
      } catch (error) {
        if (!(error as Error).message.startsWith('There is no column')) throw error;
        // Where two columns may be the latitude the visitor chooses.
        expect((error as Error).message, text).toContain('"column_1"');
        chosen++;
      }
    }
    expect(chosen).toBeLessThan(20);
  });

  test.each([
    '"a;b",lat,lon\nx,10.7769N,106.7009E\n',
    '"a\nb",lat,lon\nx,10.7769N,106.7009E\n',
    '"a, b",21.5,105.5\nx,10.7769,106.7009\n',
    '"a\n;b",21.5,105.5\nx,10.7769,106.7009\n',
    '71.5,21.5,105.5\n72.5,10.7769,106.7009\n',
  ])('%j: signs within quotes divide nothing, and other numbers are no degrees', async (text) => {
    expect((await convertedFile(Buffer.from(text), 'a.csv')).text).toMatch(/,13,HCM,OK\n$/);
  });

  test('several columns that may be the latitude of a table without header are left to the visitor', async () => {
    const text = '10.5,21.0288,105.8525\n11.5,10.7769,106.7009\n';
    expect(await answerTo(Buffer.from(text), 'a.csv')).toMatch(
      /no column lat .* "column_1", "column_2", "column_3"/,
    );
    const columns = { kind: 'positions', lat: 1, lng: 2 };
    const answer = await convertedFile(Buffer.from(text), 'a.csv', { columns });
    expect(answer.text.match(/,(?:HN|HCM),OK/g)).toEqual([',HN,OK', ',HCM,OK']);
  });

  test('ids of lines whose positions have other names keep their digits, whichever line has them first', async () => {
    const ids = ['12345678901234567890', '9007199254740993', '0.1000', '1e3', '"\\u0041"'];
    const answers = ['Latitude', 'latitude', 'lat'].map(async (lat) => {
      const lines = [...Array.from({ length: 150 }, () => ''), ...ids.map((id) => `"id":${id},`)];
      const text = lines.map((id) => `{${id}"${lat}":21.0288,"lng":105.8525}\n`).join('');
      return (await convertedFile(Buffer.from(text), 'a.ndjson')).text;
    });
    const [others, long, plain] = await Promise.all(answers);
    expect([others, long]).toEqual([plain, plain]);
    for (const id of ids) expect(plain).toContain(`"id":${id}}`);
  });

  test('rows and provinces of many blocks are added up, and the first three failed rows of each kind are shown', () => {
    const rows = Array.from({ length: 30_000 }, (_, i) =>
      i % 5000 === 4999 ? `48.${i},2.29` : i % 5000 === 2500 ? 'x,105' : '21.0288,105.8525',
    );
    const { tally } = converted(`lat,lng\n${rows.join('\n')}\n`, 'csv', 65_536);
    expect([tally.rows, tally.byStatus.reduce((a, b) => a + b, 0)]).toEqual([30_000, 30_000]);
    expect(Math.max(...tally.byAdmin)).toBe(29_988);
    const of = (status: string) => tally.examples.filter((each) => each.status === status);
    expect(of('NOT_FOUND').map(({ row }) => row)).toEqual([5000, 10_000, 15_000]);
    expect(of('INVALID_REQUEST').map(({ row }) => row)).toEqual([2501, 7501, 12_501]);
    expect(of('INVALID_REQUEST')[0]).toMatchObject({
      text: 'x,105',
      reasons: [expect.stringMatching(/^lat /)],
    });
    expect(of('NOT_FOUND')[0]).toMatchObject({ text: '48.4999,2.29', reasons: [] });
  });

  test('positions are encoded, codes decoded; columns that are there already get a prefix', () => {
    const request = (text: string, input = 'csv') => {
      const { operation, prefix } = requestFor(Buffer.from(text), input, 9);
      return [operation, prefix];
    };
    expect(request('lat,lng\n1,2\n')).toEqual(['encode', '']);
    expect(request('hexcodes\nHN-6GHP4\n')).toEqual(['decode', '']);
    expect(request('lat,lng,status\n1,2,x\n')).toEqual(['encode', 'hexcodes_']);
    expect(request('hexcodes,lat\nHN-6GHP4,1\n')).toEqual(['decode', 'hexcodes_']);
    expect(() => request('a,b\n1,2\n')).toThrow(/lat/);
    expect(request('{"lat":1,"lng":2}\n', 'ndjson')).toEqual(['encode', '']);
    expect(request('{"hexcodes":"HN-6GHP4"}\n', 'ndjson')).toEqual(['decode', '']);
    expect(request('"HN-6GHP4"\n', 'ndjson')).toEqual(['decode', '']);
    expect(request('  [21,105]\n', 'ndjson')).toEqual(['encode', '']);
    // A first line that fails decides nothing about the others.
    expect(request('{"note":"x"}\n{"lat":1,"lng":2}\n', 'ndjson')).toEqual(['encode', '']);
    expect(request('{"longitude":2,"latitude":1,"hexcodes":"HN-6GHP4"}\n', 'ndjson')).toEqual(['encode', '']);
    const { tally } = converted('lat,lng,status\n21.0288,105.8525,x\n');
    expect(tally.prefix).toBe('hexcodes_');
  });

  test('a long row is shown by its beginning', () => {
    const { tally } = converted(`lat,lng,name\nx,105,${'n'.repeat(300)}\n`);
    expect(tally.examples[0]?.text).toBe(`x,105,${'n'.repeat(114)}…`);
  });

  test('the file of failed rows has one header row, whenever it is taken', () => {
    const bytes = Buffer.from('lat,lng\nx,1\n');
    const request = requestFor(bytes, 'csv', 13);
    const conversion = conversionOf(hexcodes.kernel, request);
    conversion.push(bytes);
    conversion.end();
    const first = Buffer.concat(conversion.takeFailed()).toString();
    expect(first.split('\n')[0]).toMatch(/^lat,lng,/);
    const again = conversionOf(hexcodes.kernel, request);
    const rows: string[] = [];
    for (const part of ['lat,lng\nx,1\n', `y,1\n${'z,1\n'.repeat(90_000)}`]) {
      again.push(Buffer.from(part));
      rows.push(Buffer.concat(again.takeFailed()).toString());
    }
    again.end();
    rows.push(Buffer.concat(again.takeFailed()).toString());
    expect(rows.join('').split('lat,lng,').length - 1).toBe(1);
  });

  test('columns that a visitor chooses are taken by their place, under the names of the file', async () => {
    const text = '2;1;1;vĩ độ;hexcodes\n105.8525;21.0288;x;3;HN-6GHP4-83RFR\n';
    const positions = { kind: 'positions', lat: 1, lng: 0 };
    expect((await convertedFile(Buffer.from(text), 'a.csv', { columns: positions })).text).toBe(
      '2;1;1;vĩ độ;hexcodes;hexcodes_hexcodes;hexcodes_resolution;hexcodes_admin_code;hexcodes_status\n' +
        '105.8525;21.0288;x;3;HN-6GHP4-83RFR;HN-6GHP4-83RFR;13;HN;OK\n',
    );
    const codes = { kind: 'codes', column: 4 };
    const { text: decoded } = await convertedFile(Buffer.from(text), 'a.csv', { columns: codes });
    expect(decoded).toMatch(/;HN-6GHP4-83RFR;21\.02\d+;105\.85\d+;13;OK\n$/);
    const mine = await convertedFile(Buffer.from('stt,Mã\n1,HN-6GHP4-83RFR\n'), 'a.csv');
    expect(mine.text.split('\n')[0]).toBe('stt,Mã,lat,lng,resolution,status');
  });

  test('failed lines of NDJSON are kept, the others are not', () => {
    const lines = [
      '{"lat":21.0288,"lng":105.8525}',
      '{"lat":"x","lng":1}',
      '{"lat":48.8,"lng":2.3}',
      '{"lat":10.7769,"lng":106.7009}',
    ];
    const bytes = Buffer.from(`${lines.join('\n')}\n`);
    const conversion = conversionOf(hexcodes.kernel, requestFor(bytes, 'ndjson', 13));
    conversion.push(bytes);
    conversion.end();
    const failed = Buffer.concat(conversion.takeFailed()).toString().trim().split('\n');
    expect(failed.map((line) => (JSON.parse(line) as { lat: unknown }).lat)).toEqual([null, 48.8]);
  });
});

// The points of a converted file as the map draws them: where they are, and in the colour of which province.
describe('points', async () => {
  const NOWHERE = 255;
  const hexcodes = await Hexcodes.load();

  function drawn(csv: string): PointsToDraw {
    const bytes = Buffer.from(csv);
    const conversion = conversionOf(hexcodes.kernel, requestFor(bytes, 'csv', 9));
    conversion.push(bytes);
    conversion.end();
    return conversion.points.take();
  }

  /** A position in each province, found on a grid of 0.1°. */
  const positions = new Map<number, string>();
  for (let lat = 8.5; lat < 23.4; lat += 0.1)
    for (let lng = 102.2; lng < 109.5; lng += 0.1) {
      const code = hexcodes.adminCodeOf(lat, lng);
      const admin = ADMIN_UNITS.findIndex((unit) => unit.code === code);
      if (admin >= 0 && !positions.has(admin)) positions.set(admin, `${lat.toFixed(2)},${lng.toFixed(2)}`);
    }
  const inAll = ADMIN_UNITS.map((_, admin) => positions.get(admin)!);

  test('every province has its own number, also where two letters are the beginning of three', () => {
    expect(positions.size).toBe(ADMIN_UNITS.length);
    expect(new Set(ADMIN_UNITS.map(({ code }) => code.slice(0, 2))).size).toBeLessThan(ADMIN_UNITS.length);
    const all = ADMIN_UNITS.map((_, admin) => admin);
    expect([...drawn(`lat,lng\n${inAll.join('\n')}\n`).groups]).toEqual(all);
    const codes = inAll.map((text) => {
      const [lat, lng] = text.split(',').map(Number);
      return hexcodes.encode(lat!, lng!, 9).hexcodes;
    });
    expect([...drawn(`hexcodes\n${codes.join('\n')}\n`).groups]).toEqual(all);
  });

  test('a position abroad is drawn without a province; a row without one is not drawn', () => {
    const { groups, box } = drawn('lat,lng\n21.03,105.85\n48.8,2.3\nx,y\n10.78,106.7\n');
    expect([groups.length, groups[1]]).toEqual([3, NOWHERE]);
    expect(box).toEqual({ west: 105.85, south: 10.78, east: 106.7, north: 21.03 });
    expect(drawn('hexcodes\nHN-6GHP4-83RFR\nHN-6GHP4-83RFQ\n').groups.length).toBe(1);
  });

  test('the box is around the points in provinces, and what Mercator cannot show is left out', () => {
    const points = new PointList();
    expect(points.take().box).toBeUndefined();
    for (const [lat, lng, admin] of [
      [21, 105, 1],
      [10, 107, 2],
      [12, 109, 3],
      [50, 2, NOWHERE],
      [86, 100, 1],
      [10, 181, 1],
      [Number.NaN, 100, 1],
    ] as const)
      points.add(lat, lng, admin, 0);
    const { groups, box, left, offsets } = points.take();
    expect([...groups]).toEqual([1, 2, 3, NOWHERE]);
    expect(box).toEqual({ west: 105, south: 10, east: 109, north: 21 });
    expect([left, offsets.length]).toEqual([0, 8]);
  });

  test('more points than the first buffers hold keep their places; beyond two million they are counted', () => {
    const points = new PointList();
    for (let i = 0; i < 2_000_003; i++) points.add(10, 100 + (i % 10), i % 34, i);
    const { groups, offsets, left, positions, rows } = points.take();
    expect([groups.length, offsets.length, left]).toEqual([2_000_000, 4_000_000, 3]);
    expect([groups[0], groups[69_999], offsets[0]]).toEqual([0, 69_999 % 34, offsets[20]]);
    expect(offsets[2 * 69_999]).toBe(offsets[18]);
    expect([rows[69_999], positions[2 * 69_999], positions[2 * 69_999 + 1]]).toEqual([69_999, 10, 109]);
  });

  test('points keep their zones, also beyond the first buffers; without zones there are none', () => {
    const [zoned, plain] = [new PointList(), new PointList()];
    for (let i = 0; i < 70_000; i++) {
      zoned.add(10, 100, 1, i, i % 251);
      plain.add(10, 100, 1, i);
    }
    const zones = zoned.takeZones();
    expect([zones.length, zones[0], zones[250], zones[69_999]]).toEqual([70_000, 0, 250, 69_999 % 251]);
    expect(plain.takeZones()).toHaveLength(0);
  });
});

// Every reason that the readers give has a Vietnamese sentence.
describe('reasons in Vietnamese', async () => {
  const { inVietnamese } = await consoleModule<{ inVietnamese(sentence: string): string }>(
    'words/reasons.ts',
  );
  const { kernel } = await Hexcodes.load();
  const ENGLISH = /\b(?:is|must|has|have|the|be|of)\b/;

  function reasonsOf(bytes: Uint8Array): string[] {
    try {
      const conversion = conversionOf(kernel, requestFor(bytes, 'csv', 13));
      conversion.push(bytes);
      conversion.end();
      return conversion.tally.examples.flatMap(({ reasons }) => reasons);
    } catch (error) {
      return [(error as Error).message];
    }
  }

  test.each([
    'lat,lng\n,105\n',
    'lat,lng\nx,105\n',
    'lat,lng\n95,105\n',
    'lat,lng\n21,181\n',
    'lat,lng\n21\n',
    'lat,lng\n21,105,7\n',
    'lat,lng,resolution\n21,105,99\n',
    'lat,lng\n"21,105\n',
    'hexcodes\n""\n',
    'name,street\na,b\n',
    'lat,name\n21,b\n',
    'lat,lat,lng\n1,2,3\n',
    '"lat,lng',
    'lat,lng\n\0\n',
    '',
    `${'x'.repeat(70_000)}\n1`,
  ])('%j', (text) => {
    const reasons = reasonsOf(Buffer.from(text));
    expect(reasons.length).toBeGreaterThan(0);
    for (const reason of reasons) {
      expect(inVietnamese(reason)).not.toBe(reason);
      expect(inVietnamese(reason).replaceAll(/"[^"]*"/g, '')).not.toMatch(ENGLISH);
    }
  });

  test('every sentence that the readers of the page throw', () => {
    const sources = ['src/tables', 'src/hexcodes/wire', 'src/console/file'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => readFileSync(`${folder}/${name}`, 'utf8')),
    );
    const thrown = /new (?:TableError|BulkInputError)\(\s*(?:'([^']+)'|`([^`]+)`)/g;
    const sentences = sources
      .flatMap((source) => [...source.matchAll(thrown)])
      .map(([, plain, filled]) => plain ?? filled!.replace(/\$\{[^}]*\}+/g, '7'));
    expect(sentences.length).toBeGreaterThan(60);
    for (const sentence of sentences)
      expect([sentence, ENGLISH.test(inVietnamese(sentence))]).toEqual([sentence, false]);
  });

  test('bytes that are not UTF-8', () => {
    const bytes = Buffer.concat([
      Buffer.from('lat,lng\n21,105 '),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('\n'),
    ]);
    const [reason = ''] = reasonsOf(bytes);
    expect(inVietnamese(reason)).toMatch(/^byte \d+ không phải là UTF-8/);
  });
});

// Files that other programs made (test/fixtures/brought), as the page reads them: each gives its codes, or a sentence
// that helps, in both languages.
describe('files of other programs', async () => {
  const { inVietnamese } = await consoleModule<{ inVietnamese(sentence: string): string }>(
    'words/reasons.ts',
  );

  const ENGLISH = /\b(?:is|must|has|have|the|be|of|it)\b/i;

  test.each(
    broughtCases()
      .filter(({ options }) => options.length === 0)
      .map(({ file, page }) => [file, page]),
  )('%s', async (file, page) => {
    const answer = await answerTo(broughtFile(file), file);
    if (page === 'codes') {
      expect(answer.match(/(?:HN|HCM|DNG)-[0-9A-Z]{5}-[0-9A-Z]{5}/g)).toEqual(SHOP_CODES);
      return;
    }
    if (page === 'failed') {
      expect(answer).toContain('INVALID_REQUEST');
      return;
    }
    for (const words of page.split(' | ')) expect(answer).toContain(words);
    if (page === 'command') return;
    const [words = ''] = inVietnamese(answer).split(/: (?=[\w:]+ )/);
    expect(words).not.toMatch(ENGLISH);
  });
});
