// GPX and KML through the command: points, tracks, areas, and every field.

import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { strToU8, zipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import { gdal, gdalNote, hasGdal } from '../../../support/gdal.js';
import { sharedCommand } from '../../../support/shared.js';

const folder = sharedCommand();

/** The table of a file, by the command, without the columns that it adds. @throws Error with what it says */
async function tableOf(
  content: string | Uint8Array,
  format: 'gpx' | 'kml' | 'kmz',
  point?: string,
): Promise<string[][]> {
  folder.write(`in.${format}`, content);
  const choice = point === undefined ? [] : ['--point', point];
  const { stdout, stderr } = await folder.run(['encode', `in.${format}`, '-q', '--to', 'csv', ...choice]);
  if (stdout === '') throw new Error(stderr);
  return (parse(stdout) as string[][]).map((row) => row.slice(0, -4));
}

// GPX and KML as rows: points of every kind, names that are somebody else's, what is broken, in pieces of any size.
describe('tracks and places', () => {
  const quoted = (cell: string): string => (/[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  const linesOf = async (...of: Parameters<typeof tableOf>): Promise<string[]> =>
    (await tableOf(...of)).map((row) => row.map(quoted).join(','));
  const gpx = (text: string | Uint8Array): Promise<string[]> => linesOf(text, 'gpx');
  const kml = (text: string | Uint8Array, point?: string): Promise<string[]> => linesOf(text, 'kml', point);

  const GPX = `<?xml version="1.0"?><gpx xmlns="http://www.topografix.com/GPX/1/1" xmlns:t="urn:t"><metadata><name>all</name></metadata>
<wpt lat="21.0288" lon="105.8525"><ele>12.5</ele><name>Hồ &amp; Gươm</name><link href="x"><text>no</text><name>no</name></link></wpt>
<rte><name>R</name><rtept lat="10.1" lon="106.1"/></rte>
<trk><name><![CDATA[Xe <1>]]></name><trkseg><trkpt lat="16" lon="108"><time>2025-07-01T00:00:00Z</time>
<extensions><t:ext><t:speed>3.5</t:speed></t:ext></extensions></trkpt></trkseg><trkseg><trkpt lat="16.1" lon="108.1"><name>own</name></trkpt></trkseg></trk>
<trk><trkseg><trkpt lat="17" lon="107"/></trkseg></trk></gpx>`;
  const ROWS = [
    'kind,name,number,segment,lat,lng,time,ele,speed,course,hdop,sat,hr,cad,sym,desc,other',
    `waypoint,Hồ & Gươm,,,21.0288,105.8525,,12.5,,,,,,,,,"{""link"":{""@href"":""x"",""text"":""no"",""name"":""no""}}"`,
    'route,R,1,,10.1,106.1,,,,,,,,,,,',
    'track,Xe <1>,1,1,16,108,2025-07-01T00:00:00Z,,3.5,,,,,,,,',
    'track,own,1,2,16.1,108.1,,,,,,,,,,,"{""track"":{""name"":""Xe <1>""}}"',
    'track,,2,1,17,107,,,,,,,,,,,',
  ];

  test('waypoints, routes and tracks of GPX, wherever the pieces end in which they are read', async () => {
    expect(await gpx(GPX)).toEqual(ROWS);
    const [head, inside] = GPX.slice(0, -6).split('</metadata>\n') as [string, string];
    // Pieces of an odd number of bytes: the ends of chunks come to lie in every element.
    const times = 3001;
    const many = await gpx(`${head}</metadata>${`${inside}\n <!--é-->`.repeat(times)}</gpx>`);
    expect(new Set(many.map((row) => row.replace(/^((?:track|route),.*?),\d+,/, '$1,#,')))).toEqual(
      new Set(ROWS.map((row) => row.replace(/^((?:track|route),.*?),\d+,/, '$1,#,'))),
    );
    expect(many).toHaveLength(1 + times * (ROWS.length - 1));
  });

  test('a name inside of a link is none of the point, before its own as well', async () => {
    const link = '<link href="x"><name>page</name><desc>of it</desc></link>';
    const [, row] = await gpx(`<gpx><wpt lat="21" lon="105">${link}<name>own</name></wpt></gpx>`);
    expect(row).toMatch(/^waypoint,own,,,21,105,,,,,,,,,,,"/);
  });

  test('texts of a segment are left out', async () => {
    const inside = '<extensions><a>1</a></extensions><trkpt lat="21" lon="105"/>';
    const [, row] = await gpx(`<gpx><trk><name>n</name><trkseg>${inside}</trkseg></trk></gpx>`);
    expect(row).toBe('track,n,1,1,21,105,,,,,,,,,,,');
  });

  test('GPX with prefixes, and in UTF-16', async () => {
    const prefixed = GPX.replace('<gpx xmlns=', '<gpx xmlns:g=').replace(
      /<(\/?)(gpx|wpt|rte|rtept|trk|trkseg|trkpt|name|ele|time|link)\b/g,
      '<$1g:$2',
    );
    expect(await gpx(prefixed)).toEqual(
      ROWS.map((row) => row.replace(/""link(.*)""name/, '""g:link$1""g:name')),
    );
    expect(await gpx(Buffer.from(`\ufeff${GPX}`, 'utf16le'))).toEqual(ROWS);
  });

  test.each([
    ['cut off', GPX.slice(0, -20), /ends in the middle|not XML/],
    ['wrongly nested', '<gpx><wpt lat="1" lon="2"></gpx></wpt>', /not XML/],
    [
      'of no encoding',
      Buffer.from('<gpx><wpt lat="1" lon="2"><name>\xff</name></wpt></gpx>', 'latin1'),
      /encoding/,
    ],
    ['unclear', '<gpx><wpt lat="1" lat="2" lon="2"/></gpx>', /not XML as it should be: attribute <lat>/],
    ['without quotes', '<gpx><wpt lat=1 lon="2"/></gpx>', /not XML as it should be: missing attribute value/],
    ['endlessly nested', `<gpx>${'<a>'.repeat(600)}`, /nested/],
  ])('GPX that is %s is refused', async (_, text, message) => {
    await expect(gpx(text)).rejects.toThrow(message);
  });

  const place = (inside: string): string =>
    `<kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="urn:gx"><Document><name>D</name><Folder><name>Kho</name><Placemark>${inside}</Placemark></Folder></Document></kml>`;
  const AREA =
    '<Polygon><outerBoundaryIs><LinearRing><coordinates>105,21,0 107,21,0 107,23,0 105,23,0 105,21,0</coordinates></LinearRing></outerBoundaryIs></Polygon>';

  test('a placemark with data of its own', async () => {
    const inside =
      '<name>A</name><description>x, y</description><ExtendedData><Data name="mã"><value>7</value></Data><SchemaData><SimpleData name="name">n</SimpleData></SchemaData></ExtendedData><Point><coordinates> 105.8525,21.0288,3 </coordinates></Point>';
    const rows = [
      'name,description,folder,time,mã,data_name,other,lat,lng',
      'A,"x, y",Kho,,7,n,"{""Point"":{""coordinates"":{""@height"":""3""}}}",21.0288,105.8525',
    ];
    expect(await kml(place(inside))).toEqual(rows);
    const packed = zipSync({ 'doc.kml': strToU8(place(inside)), 'files/x.png': strToU8('x') });
    expect(await linesOf(packed, 'kmz')).toEqual(rows);
  });

  test('a track has a row for each of its points', async () => {
    const inside =
      '<gx:Track><when>t1</when><when>t2</when><gx:coord>105 21 0</gx:coord><gx:coord>106 22 0</gx:coord></gx:Track>';
    expect((await kml(place(inside))).slice(1)).toEqual([',,Kho,t1,,21,105', ',,Kho,t2,,22,106']);
    const uneven = inside.replace('<gx:coord>106 22 0</gx:coord>', '');
    expect((await kml(place(uneven))).slice(1)).toEqual([',,Kho,t1,,21,105', ',,Kho,t2,,,']);
    // An empty element stands for a position that was not had.
    const lost = inside.replace('105 21 0', '');
    expect((await kml(place(lost))).slice(1)).toEqual([',,Kho,t1,,,', ',,Kho,t2,,22,106']);
    // Values that come one for each point are the point's; one more is everybody's.
    const values = (name: string, ...each: string[]): string =>
      `<gx:SimpleArrayData name="${name}">${each.map((value) => `<gx:value>${value}</gx:value>`).join('')}</gx:SimpleArrayData>`;
    const withValues = (...each: string[]): string =>
      inside.replace(
        '</gx:Track>',
        `<gx:angles>${each[0]} 0 0</gx:angles><ExtendedData>${values('hr', ...each)}${values('time', '1')}</ExtendedData></gx:Track>`,
      );
    const more =
      '"{""gx:Track"":{""ExtendedData"":{""gx:SimpleArrayData"":{""gx:value"":""9"",""@name"":""hr""}}}}"';
    expect(await kml(place(withValues('5', '6') + withValues('7', '8', '9')))).toEqual([
      'name,description,folder,time,angles,hr,data_time,other,lat,lng',
      `,,Kho,t1,5 0 0,5,1,${more},21,105`,
      `,,Kho,t2,,6,,${more},22,106`,
      `,,Kho,t1,7 0 0,7,1,${more},21,105`,
      `,,Kho,t2,,8,,${more},22,106`,
    ]);
  });

  test('areas wait for a word on their point', async () => {
    await expect(kml(place(AREA))).rejects.toThrow('it holds lines or areas: 1 Polygon');
    expect((await kml(place(AREA), 'centroid')).slice(1)).toEqual([',,Kho,,,22,106']);
    expect((await kml(place(AREA), 'first')).slice(1)).toEqual([',,Kho,,,21,105']);
    expect(await kml(place(AREA), 'each')).toHaveLength(5);
  });

  test('a placemark without a place is a row without a position', async () => {
    expect((await kml(place('<name>A</name>'))).slice(1)).toEqual(['A,,Kho,,,,']);
  });
});

// GPX and KML of generated elements: no text of a point or a placemark is left out, and GDAL reads the same rows. A
// tuple that cannot be read fails its row.
describe('fields', () => {
  type Row = Record<string, string>;
  const rowsOf = async (...of: Parameters<typeof tableOf>): Promise<Row[]> => {
    const [names, ...rows] = await tableOf(...of);
    return rows.map((row) => Object.fromEntries(names!.map((name, c) => [name, row[c]!])));
  };
  const gpx = (content: string | Uint8Array): Promise<Row[]> => rowsOf(content, 'gpx');
  const kml = (content: string | Uint8Array, point?: string): Promise<Row[]> => rowsOf(content, 'kml', point);

  /** All texts in a row: of its columns, and of the values in its JSON. */
  function textsIn(row: Row): string[] {
    const inside = (value: unknown): string[] =>
      typeof value === 'object' && value !== null ? Object.values(value).flatMap(inside) : [String(value)];
    const { other = '', ...columns } = row;
    return [...Object.values(columns), ...inside(other === '' ? {} : JSON.parse(other))];
  }

  const escaped = (text: string): string =>
    text.replace(/[&<>"]/g, (letter) => `&#${letter.codePointAt(0)};`).replaceAll('\n', '&#10;');
  /** Texts that are each unique by their number. */
  const text = fc.constantFrom('a', ' b ', 'Hồ & <Gươm>', '"quoted", comma', '1\n2', ']]>', '{"a":1}', '😀');
  const numbered = (texts: readonly string[]): string[] => texts.map((each, i) => `${i}${each}${i}`);

  const GPX_NAMES =
    'name cmt desc src sym type fix vdop pdop magvar geoidheight ageofdgpsdata ele sat time speed'.split(' ');
  const gpxPoint = fc
    .record({
      names: fc.uniqueArray(fc.constantFrom(...GPX_NAMES), { maxLength: 8 }),
      extensions: fc.array(fc.constantFrom('o:plate', 'o:speed', 'p:speed', 'o:deep', 'o:name', 'p:hr'), {
        maxLength: 5,
      }),
      hasLink: fc.boolean(),
      pool: fc.array(text, { minLength: 20, maxLength: 20 }),
    })
    .map(({ names, extensions, hasLink, pool }) => {
      const texts = numbered(pool);
      const used: string[] = [];
      const next = (isValue = false): string => {
        const own = texts[used.length]!;
        used.push(isValue ? own.trim() : own);
        return escaped(own);
      };
      const inside = names.map((name) => `<${name}>${next(/^(?:ele|sat|time|speed)$/.test(name))}</${name}>`);
      if (hasLink) inside.push(`<link href="${next()}"><text>${next()}</text><name>${next()}</name></link>`);
      const own = extensions.map((name) =>
        name === 'o:deep'
          ? `<o:a at="${next()}"><o:b>${next()}</o:b><o:b/></o:a>`
          : `<${name}>${next(/speed|hr/.test(name))}</${name}>`,
      );
      return { xml: `${inside.join('')}<extensions>${own.join('\n')}</extensions>`, texts: used, names };
    });
  const gpxFile = (points: readonly { xml: string }[]): string =>
    `<?xml version="1.0"?><gpx version="1.1" creator="x" xmlns="http://www.topografix.com/GPX/1/1" xmlns:o="urn:o" xmlns:p="urn:p">${points
      .map(({ xml }, i) => `<wpt lat="21.0288" lon="${105 + i / 100}">${xml}</wpt>`)
      .join('\n')}</gpx>`;

  test('no text of a point of GPX is left out', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(gpxPoint, { minLength: 1, maxLength: 4 }), async (points) => {
        const rows = await gpx(gpxFile(points));
        expect(rows).toHaveLength(points.length);
        rows.forEach((row, i) => {
          const found = textsIn(row);
          for (const each of points[i]!.texts)
            expect([each, found.includes(each) || found.includes(each.trim())]).toEqual([each, true]);
        });
      }),
      { numRuns: 100 },
    );
  });

  const JUDGE = `
found = []
for content in json.load(sys.stdin):
    gdal.FileFromMemBuffer('/vsimem/x' + sys.argv[1], content.encode())
    rows = []
    data = ogr.Open('/vsimem/x' + sys.argv[1])
    for layer in data:
        for f in layer:
            g = f.GetGeometryRef()
            rows.append({**{n: f.GetField(n) for n in sys.argv[2].split(',') if f.GetFieldIndex(n) >= 0}, 'lng': g.GetX() if g and g.GetGeometryType() in (ogr.wkbPoint, ogr.wkbPoint25D) else None})
    found.append(rows)
print(json.dumps(found).replace('-Infinity', 'null').replace('Infinity', 'null').replace('NaN', 'null'))`;

  test.skipIf(!hasGdal)(`GDAL has the same points of GPX${gdalNote}`, async () => {
    const files = fc.sample(fc.array(gpxPoint, { minLength: 1, maxLength: 4 }), { numRuns: 60, seed: 5 });
    const contents = files.map(gpxFile);
    const judged = gdal(JUDGE, ['.gpx', 'name,cmt,desc,src,sym,type'], JSON.stringify(contents)) as Record<
      string,
      string | null
    >[][];
    for (const [i, theirs] of judged.entries()) {
      const ours = await gpx(contents[i]!);
      expect(ours.map(({ lng }) => Number(lng))).toEqual(theirs.map(({ lng }) => Number(lng)));
      theirs.forEach((row, r) => {
        for (const name of ['name', 'cmt', 'desc', 'src', 'sym', 'type']) {
          if (row[name] === null || row[name] === undefined) continue;
          const own = ours[r]![name] ?? (JSON.parse(ours[r]!.other!) as Row)[name];
          expect(own?.trim()).toBe(row[name]!.trim());
        }
      });
    }
  });

  const place = (inside: string): string =>
    `<kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="urn:gx"><Document><Placemark id="p1">${inside}</Placemark></Document></kml>`;
  const KML_NAMES = 'name description address phoneNumber Snippet visibility styleUrl atom'.split(' ');
  test('no text of a placemark is left out', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.constantFrom(...KML_NAMES)),
        fc.array(fc.constantFrom('mã', 'speed', 'name', 'other', 'lat', 'a&amp;b'), { maxLength: 6 }),
        fc.array(text, { minLength: 24, maxLength: 24 }),
        async (names, data, pool) => {
          const texts = numbered(pool);
          let used = 0;
          const next = (): string => escaped(texts[used++]!);
          const inside = names.map((name) => `<${name}>${next()}</${name}>`);
          const own = data.map(
            (name) =>
              `<Data name="${name}"><displayName>${next()}</displayName><value>${next()}</value></Data>`,
          );
          const span = `<TimeSpan><begin>${next()}</begin><end>${next()}</end></TimeSpan>`;
          const [row, ...more] = await kml(
            place(
              `${inside.join('')}<ExtendedData>${own.join('')}</ExtendedData>${span}<Point><altitudeMode>${next()}</altitudeMode><coordinates>105.8525,21.0288,7</coordinates></Point>`,
            ),
          );
          expect(more).toEqual([]);
          const found = textsIn(row!);
          for (const each of [...texts.slice(0, used), 'p1', '7', '21.0288', '105.8525'])
            expect([each, found.includes(each) || found.includes(each.trim())]).toEqual([each, true]);
          if (data.includes('a&amp;b')) expect(Object.keys(row!)).toContain('a&b');
        },
      ),
      { numRuns: 100 },
    );
  });

  const number = fc.oneof(
    fc.double({ min: -179, max: 179, noNaN: true }).map(String),
    fc.constantFrom('105', '+21.5', '.5', '1e1', '5.'),
  );
  const tuple = fc.oneof(
    {
      weight: 5,
      arbitrary: fc
        .tuple(number, number, fc.option(number, { nil: '' }))
        .map(([x, y, z]) => [x, y, z].filter((each) => each !== '').join(',')),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '105',
        '105,',
        ',21',
        '105, 21',
        '105,21,0,106,22,0',
        '105;21',
        'a,b',
        '0x10,5',
        'NaN,NaN',
        '105,21,x',
        '105,21,',
        'Infinity,1',
        '1e999,1x',
      ),
    },
  );
  test('a tuple that is not a position fails its row, and no point is left out', async () => {
    const good = /^(?:[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?,?){2,3}$/i;
    await fc.assert(
      fc.asyncProperty(
        fc.array(tuple, { minLength: 2, maxLength: 6 }),
        fc.constantFrom(' ', '\n', '  \t'),
        async (tuples, blank) => {
          const coordinates = tuples.join(blank);
          const isGood = tuples.every(
            (each) => good.test(each) && !each.endsWith(',') && /^[^,]+(?:,[^,]+){1,2}$/.test(each),
          );
          const rows = await kml(
            place(`<LineString><coordinates>${blank}${coordinates}${blank}</coordinates></LineString>`),
            'each',
          );
          if (isGood)
            expect(rows.map(({ lng, lat }) => [Number(lng), Number(lat)])).toEqual(
              tuples.map((each) => each.split(',').slice(0, 2).map(Number)),
            );
          else {
            const rule = expect.stringMatching(/^\S{1,41} is not lng,lat\[,height\]$/);
            expect(rows.map(({ lng, lat }) => [lng, lat])).toEqual([['', rule]]);
            expect(JSON.parse(rows[0]!.other!)).toEqual({
              '@id': 'p1',
              LineString: { coordinates: expect.stringContaining(coordinates) },
            });
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  test.skipIf(!hasGdal)(`points that are read are GDAL's${gdalNote}`, async () => {
    const tuples = fc.sample(tuple, { numRuns: 150, seed: 9 });
    const contents = tuples.map((each) =>
      place(`<name>n</name><Point><coordinates>${each}</coordinates></Point>`),
    );
    const judged = gdal(JUDGE, ['.kml', 'Name'], JSON.stringify(contents)) as { lng: number | null }[][];
    for (const [i, content] of contents.entries()) {
      const [row] = await kml(content);
      if (row!.lng !== '') expect(Number(row!.lng)).toBeCloseTo(judged[i]![0]!.lng!, 9);
    }
  });

  test('a point of several tuples, a ring, a track', async () => {
    expect((await kml(place('<Point><coordinates>105,21 106,22</coordinates></Point>')))[0]).toMatchObject({
      lat: '105,21 106,22 is not one tuple of a Point',
      lng: '',
    });
    const ring = '<LinearRing><coordinates>105.8,21,0,105.9,21,0,105.9,21.1,0</coordinates></LinearRing>';
    const area = `<Polygon><outerBoundaryIs>${ring}</outerBoundaryIs></Polygon>`;
    expect((await kml(place(area), 'centroid'))[0]).toMatchObject({
      lat: '105.8,21,0,105.9,21,0,105.9,21.1,0 is not lng,lat[,height]',
      lng: '',
    });
    const track =
      '<gx:Track><when>t1</when><when>t2</when><gx:coord>105, 21</gx:coord><gx:coord>106 22 0</gx:coord></gx:Track>';
    expect((await kml(place(track))).map(({ time, lat, lng }) => [time, lat, lng])).toEqual([
      ['t1', '105, 21 is not lng lat [height]', ''],
      ['t2', '22', '106'],
    ]);
  });

  describe('links to other files', () => {
    const link = (href: string, name = 'n'): string =>
      `<NetworkLink><name>${name}</name><Link><href>${href}</href></Link></NetworkLink>`;
    const file = (inside: string): string => `<kml><Document>${inside}</Document></kml>`;
    test('are named', async () => {
      await expect(kml(file(link('http://a/b.kml') + link('c.kml')))).rejects.toThrow(
        'only links to other files, which are not followed: http://a/b.kml, c.kml',
      );
      const rows = await kml(
        file(
          `${link('http://a/b.kml')}<Placemark><Point><coordinates>105,21</coordinates></Point></Placemark>`,
        ),
      );
      expect(rows.map(({ name, lat }) => [name, lat])).toEqual([
        ['', '21'],
        ['n', ''],
      ]);
      expect(rows[1]!.other).toContain('http://a/b.kml');
    });
    test('are followed within an archive', async () => {
      const inner = file('<Placemark><Point><coordinates>105,21</coordinates></Point></Placemark>');
      const doc = Buffer.from(file(link('./layers/a.kml')));
      const rows = await rowsOf(zipSync({ 'doc.kml': doc, 'layers/a.kml': Buffer.from(inner) }), 'kmz');
      expect(rows.map(({ lat }) => lat)).toEqual(['21']);
    });
  });

  test.each(['gpx', 'kml'] as const)('%s in UTF-16, with and without its mark', async (format) => {
    const content =
      format === 'gpx'
        ? gpxFile([{ xml: '<name>Hồ</name>' }])
        : place('<name>Hồ</name><Point><coordinates>105,21</coordinates></Point>');
    for (const mark of ['', '\ufeff'])
      for (const isBig of [false, true]) {
        const bytes = Buffer.from(mark + content, 'utf16le');
        if (isBig) bytes.swap16();
        expect(await rowsOf(bytes, format)).toMatchObject([{ name: 'Hồ' }]);
        folder.write('in', bytes);
        expect((await folder.run('encode in -q --to csv')).stdout).toContain('Hồ');
      }
  });

  test('texts that every row repeats are short', async () => {
    const name = 'n'.repeat(20_000);
    await expect(
      gpx(`<gpx><trk><name>${name}</name><trkseg><trkpt lat="1" lon="2"/></trkseg></trk></gpx>`),
    ).rejects.toThrow('longer than 16 KiB');
    await expect(kml(`<kml><Folder><name>${name}</name><Placemark/></Folder></kml>`)).rejects.toThrow(
      'longer than 16 KiB',
    );
    const points = '<gx:coord>105 21 0</gx:coord>'.repeat(2);
    await expect(
      kml(place(`<description>${name}</description><gx:Track>${points}</gx:Track>`)),
    ).rejects.toThrow('the description of a placemark with a track is longer than 16 KiB');
  });
});
