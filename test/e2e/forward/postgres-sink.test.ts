// A sink in a table of a real PostgreSQL: what it holds, the same batch twice, rows that no table would take as they
// are, a database that goes away, and a user that may not make tables.
import { describe, expect, onTestFinished, test } from 'vitest';
import { PostgresSink } from '#dist/server/traccar/forward/sinks/postgres-sink.js';
import { noPostgres, POSTGRES_PASSWORD, Postgres } from '../../support/postgres.js';
import { startServer } from '../../support/server.js';
import { sharedOf } from '../../support/shared.js';

const ROW = {
  ...{ id: 'd924fde3ba04e052eafcb1bc18c4c188', unique_id: '861', name: 'xe tải\t"\\N"\n' },
  ...{ fix_time: '2026-11-22T08:15:02.000Z', device_time: null },
  ...{ server_time: '0000-02-29T00:00:00.000Z', lat: 21.0288, lng: 105.8525 },
  ...{ hexcodes: 'HN-6GHP4-83RFR', resolution: 13, admin_code: 'HN', status: 'OK', speed_kn: 1e-7 },
  ...{ course: null, altitude_m: -1.5, accuracy_m: null, valid: true, protocol: 'osmand' },
};
const idOf = (i: number): string => i.toString(16).padStart(32, '0');
/** Lines as the backlog has them: attributes as text, with digits that a double does not hold. */
const lineOf = (more: object, attributes = 'null'): string =>
  `${JSON.stringify({ ...ROW, ...more }).slice(0, -1)},"attributes":${attributes}}\n`;
const never = new AbortController().signal;

describe.skipIf(noPostgres !== undefined)(`(PostgreSQL: ${noPostgres ?? 'here'})`, () => {
  const postgres = sharedOf(
    () => Postgres.start(),
    (made) => made.remove(),
  );

  /** A sink in a new database, and what psql says there. */
  function opened(table = 'hexcodes_positions', user = 'hexcodes') {
    const url = new URL(postgres.newDatabase());
    const sql = (text: string): string => postgres.sql(text, url.href).trim();
    const address = new URL(url);
    address.password = '';
    address.username = user;
    const sink = new PostgresSink({ url: address.href, table }, POSTGRES_PASSWORD);
    const deliver = (...lines: string[]): Promise<void> => sink.deliver(Buffer.from(lines.join('')), never);
    return { sink, sql, deliver };
  }

  test('rows come as they are, and a second time they change nothing', async () => {
    const { sink, sql, deliver } = opened();
    await deliver(lineOf({}, '{"odometer":12345678901234567890,"note":"a,\\"attributes\\":b"}'));
    await deliver(lineOf({ lat: 1 }), lineOf({ id: idOf(1) }), lineOf({ id: idOf(1) }));
    expect(sql('SELECT count(*) FROM hexcodes_positions')).toBe('2');
    const due = { ...ROW, id: 'd924fde3-ba04-e052-eafc-b1bc18c4c188' };
    const row = JSON.parse(
      sql(
        `SELECT to_jsonb(p) - 'attributes' FROM hexcodes_positions p WHERE unique_id = '861' AND id = '${ROW.id}'`,
      ),
    );
    expect(row).toMatchObject({
      ...due,
      fix_time: expect.stringContaining('2026-11-22'),
      server_time: expect.any(String),
    });
    expect(sql('SELECT server_time FROM hexcodes_positions LIMIT 1')).toMatch(/^0001-02-29 .*BC$/);
    expect(
      sql(
        `SELECT attributes->>'odometer', attributes->>'note' FROM hexcodes_positions WHERE id = '${ROW.id}'`,
      ),
    ).toBe('12345678901234567890|a,"attributes":b');
    await sink.close();
  });

  test.each([
    ['"\\u0000\\\\u0000"', '\ufffd\\u0000'],
    ['"\\ud800 \\ud83d\\ude00"', '\ufffd \u{1f600}'],
    ['1e400', `1${'0'.repeat(400)}`],
    ['1e999999', null],
    ['1e-999999', '0'],
    [`${'9'.repeat(50)}`, '9'.repeat(50)],
    [`0.${'3'.repeat(20_000)}`, '0.3333333333333333'],
  ])('attributes with %.30s', async (json, text) => {
    const { sink, sql, deliver } = opened();
    await deliver(lineOf({ name: 'a\0b' }, `{"\\u0000k":1,"v":${json}}`));
    expect(sql(`SELECT name, attributes->>'\ufffdk', attributes->>'v' FROM hexcodes_positions`)).toBe(
      `a\ufffdb|1|${text ?? ''}`,
    );
    await sink.close();
  });

  test('a failed batch leaves nothing; after a restart of the database the next one is stored', async () => {
    const { sink, sql, deliver } = opened();
    await deliver(lineOf({}));
    await expect(deliver(lineOf({ id: idOf(2) }), lineOf({ id: 'no id' }))).rejects.toThrow('uuid');
    expect(sql('SELECT count(*) FROM hexcodes_positions')).toBe('1');
    await deliver(lineOf({ id: idOf(2) }));
    await postgres.halt();
    await expect(deliver(lineOf({ id: idOf(3) }))).rejects.toThrow();
    await postgres.resume();
    await deliver(lineOf({ id: idOf(3) }));
    expect(sql('SELECT count(*) FROM hexcodes_positions')).toBe('3');
    await sink.close();
  });

  test('a delivery is given up where the database does not answer', async () => {
    const { sink, deliver } = opened();
    await deliver(lineOf({}));
    postgres.freeze(true);
    const given = new AbortController();
    const delivery = sink.deliver(Buffer.from(lineOf({ id: idOf(4) })), given.signal);
    setTimeout(() => given.abort(), 100);
    await expect(delivery).rejects.toThrow();
    postgres.freeze(false);
    await sink.close();
  });

  test('a table that is there is enough, for a user who may make none', async () => {
    const { sink, sql, deliver } = opened('fleet.positions', 'driver');
    sql(
      `CREATE ROLE driver LOGIN PASSWORD '${POSTGRES_PASSWORD}'; CREATE SCHEMA fleet; GRANT USAGE ON SCHEMA fleet TO driver`,
    );
    await expect(deliver(lineOf({}))).rejects.toThrow('permission denied');
    const owner = new PostgresSink(
      { url: postgres.url(sql('SELECT current_database()')), table: 'fleet.positions' },
      undefined,
    );
    await owner.deliver(Buffer.from(lineOf({})), never);
    sql('GRANT SELECT, INSERT ON fleet.positions TO driver');
    await deliver(lineOf({}), lineOf({ id: idOf(1) }));
    expect(sql('SELECT count(*) FROM fleet.positions')).toBe('2');
    for (const each of [sink, owner]) await each.close();
  });

  test('a position that Traccar sends is in the table, once, also when it is sent twice', async () => {
    const database = postgres.newDatabase();
    const sql = (text: string): string => postgres.sql(text, database).trim();
    const url = new URL(database);
    url.password = '';
    const server = await startServer({
      traccarSink: { kind: 'postgres', url: url.href, table: 'hexcodes_positions' },
      traccarPostgresPassword: POSTGRES_PASSWORD,
      traccarBatchMs: 20,
    });
    onTestFinished(() => server.stop());

    const position = { latitude: 21.0288, longitude: 105.8525, fixTime: '2026-11-22T08:15:02Z' };
    for (let i = 0; i < 2; i++)
      await fetch(`${server.base}/v1/traccar`, {
        method: 'POST',
        headers: { 'X-API-Key': server.key, 'Content-Type': 'application/json' },
        body: JSON.stringify({ position, device: { uniqueId: '861' } }),
      });
    await expect
      .poll(() => sql(`SELECT count(*), min(unique_id), min(admin_code) FROM hexcodes_positions`))
      .toBe('1|861|QNH');
    expect(server.log()).not.toContain(POSTGRES_PASSWORD);
  });
});
