// Positions of Traccar: what is read, what is said of faults, and an answer that cannot be written.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { OK } from '#dist/hexcodes/kernel/kernel.js';
import { NotTakenError } from '#dist/server/forward/forwarder.js';
import type { Route } from '#dist/server/router.js';
import {
  positionInJson,
  positionInQuery,
  type TrackedPosition,
  traccarRoutes,
} from '#dist/server/traccar/route.js';
import { Guarded } from '#dist/server/transport/guarded.js';
import { forwardedBody } from '../../support/traccar.js';

// Positions in the bodies and URLs of Traccar's forwarding: what is read, and what is said of faults.
describe('reading', () => {
  const read = (body: unknown): TrackedPosition => {
    const found = positionInJson(body);
    if (Array.isArray(found)) throw new Error(JSON.stringify(found));
    return found;
  };
  /** Names of the members that are refused. */
  const faultsOf = (body: unknown): string[] => {
    const found = positionInJson(body);
    return Array.isArray(found) ? found.map(({ parameter }) => parameter) : [];
  };
  const changed = (position: object, device: object = {}): unknown => {
    const body = forwardedBody(0);
    return { position: { ...body.position, ...position }, device: { ...body.device, ...device } };
  };

  test('a body of version 6', () => {
    const { id, ...rest } = read(forwardedBody(0));
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(rest).toEqual({
      uniqueId: '860123456789012',
      name: '51C-123.45, "Trường"',
      fixTime: '2026-11-22T08:00:00.000Z',
      deviceTime: '2026-11-22T08:00:00.000Z',
      serverTime: '2026-11-22T08:00:02.000Z',
      latDeg: 21.0288,
      lngDeg: 105.8525,
      speedKn: 16.2,
      courseDeg: 3,
      altitudeM: 14,
      accuracyM: 0,
      isValid: true,
      protocol: 'teltonika',
      attributes: { batteryLevel: 87, ignition: true, distance: 12.5, totalDistance: 48211.75, motion: true },
    });
  });

  test('a body of version 4: other times, members that are missing', () => {
    const body = {
      position: {
        ...{ id: 18336, attributes: {}, deviceId: 7, type: null, protocol: 'owntracks', serverTime: null },
        ...{ deviceTime: '2018-09-14T15:34:17.000+0000', fixTime: '2018-09-14T22:34:17.000+0700' },
        ...{ latitude: 20.9, longitude: 105.8 },
      },
      device: { id: 7, name: 'a', uniqueId: 'abc' },
    };
    const { fixTime, deviceTime, serverTime, speedKn, isValid } = read(body);
    expect(fixTime).toBe('2018-09-14T15:34:17.000Z');
    expect(deviceTime).toBe(fixTime);
    expect([serverTime, speedKn, isValid]).toEqual([null, null, null]);
  });

  test('the id is that of the same position sent again, with what Traccar has added since, and no other', () => {
    const { id } = read(forwardedBody(0));
    expect(read(changed({ id: 99, address: 'Hà Nội' }, { status: 'offline', positionId: 99 })).id).toBe(id);
    for (const position of [
      { latitude: 21.0289 },
      { longitude: 105.85 },
      { fixTime: '2026-11-22T08:00:00.001+00:00' },
      { deviceTime: '2026-11-22T08:00:00.001+00:00' },
      { serverTime: '2026-11-22T08:00:03.000+00:00' },
    ])
      expect(read(changed(position)).id).not.toBe(id);
    expect(read(changed({}, { uniqueId: 'b' })).id).not.toBe(id);
    const timeless = changed({ fixTime: null, deviceTime: null, serverTime: null });
    expect(read(timeless).id).not.toBe(read(timeless).id);
    expect(read(timeless).id).toMatch(/^[0-9a-f]{32}$/);
  });

  test.each([
    ['2026-02-31T08:00:00.000+00:00', false],
    ['2026-02-29T08:00:00Z', false],
    ['2026-04-31T08:00:00Z', false],
    ['2026-00-10T08:00:00Z', false],
    ['2028-02-29T23:30:00.000-0700', true],
    ['2026-12-31T23:59:59.999+07:00', true],
  ])('a time on a day that the calendar does not have is a fault: %s', (fixTime, isTime) => {
    for (const name of ['fixTime', 'deviceTime', 'serverTime'])
      expect(faultsOf(changed({ [name]: fixTime }))).toEqual(isTime ? [] : [`position.${name}`]);
  });

  test('every member that is wrong is named at once', () => {
    expect(
      faultsOf(changed({ latitude: 91, longitude: '105', fixTime: 'yesterday' }, { uniqueId: '' })),
    ).toEqual(['device.uniqueId', 'position.fixTime', 'position.latitude', 'position.longitude']);
    expect(faultsOf({ position: {}, device: {} })).toEqual([
      ...['device.uniqueId', 'position.latitude', 'position.longitude'],
    ]);
    const neither = ['position', 'device'];
    for (const body of [{}, [], null, 7, 'text', { position: [1], device: 'x'.repeat(99) }])
      expect(faultsOf(body)).toEqual(neither);
    for (const fixTime of ['2026-13-45T08:00:00Z', 9e99])
      expect(faultsOf(changed({ fixTime }))).toEqual(['position.fixTime']);
    expect(
      faultsOf(changed({ speed: 'fast', valid: 1, protocol: 7, attributes: [] }, { name: 7 })),
    ).toHaveLength(5);
  });

  /** Nested arrays, `depth` of them. */
  const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));

  test('values that are nested deeply are faults, not errors', () => {
    expect(faultsOf(changed({ attributes: { a: nested(63) } }))).toEqual([]);
    expect(read(changed({ attributes: { a: nested(63) } })).attributes).toEqual({ a: nested(63) });
    for (const levels of [64, 60_000])
      expect(faultsOf(changed({ attributes: { a: 1, b: nested(levels) } }))).toEqual(['position.attributes']);
    expect(faultsOf(changed({ latitude: nested(60_000) }, { name: { a: nested(60_000) } }))).toEqual([
      ...['device.name', 'position.latitude'],
    ]);
    expect(faultsOf({ position: nested(60_000), device: nested(3) })).toEqual(['position', 'device']);
    const text = `{"a":${'['.repeat(4000)}${']'.repeat(4000)}}`;
    expect(
      positionInQuery(`uniqueId=a&latitude=1&longitude=1&attributes=${encodeURIComponent(text)}`),
    ).toMatchObject([{ parameter: 'attributes' }]);
  });

  test('the parameters of a URL', () => {
    const found = positionInQuery(
      'uniqueId=860123456789012&latitude=21.0288&longitude=105.8525&fixTime=1795334400000&deviceTime=1795334400000&valid=true&speed=16.2&altitude=null&name=51C+%22a%22&attributes=%7B%22ignition%22%3Atrue%7D&other=%zz',
    );
    expect(found).toMatchObject({
      uniqueId: '860123456789012',
      latDeg: 21.0288,
      lngDeg: 105.8525,
      fixTime: '2026-11-22T08:00:00.000Z',
      isValid: true,
      speedKn: 16.2,
      altitudeM: null,
      name: '51C "a"',
      attributes: { ignition: true },
    });
    expect(positionInQuery('latitude=x&longitude=181&fixTime=now&valid=1&attributes=%7B')).toMatchObject(
      ['uniqueId', 'fixTime', 'latitude', 'longitude', 'valid', 'attributes'].map((parameter) => ({
        parameter,
      })),
    );
    expect(positionInQuery('latitude=1&latitude=2&longitude=%zz&uniqueId=a')).toMatchObject([
      ...[{ parameter: 'latitude' }, { parameter: 'longitude' }],
    ]);
  });
});

// The handler of positions over an exchange whose answer cannot be written: the error goes where all errors of
// handlers go, and not past them, as an unhandled rejection, which would end the process.
describe('the route', () => {
  class FakeExchange extends Guarded {
    readonly head = { method: 'POST', accept: '', contentType: '', rawQuery: '', header: (): string => '' };
    readonly notes = { entry: undefined };
    readonly errors: unknown[] = [];
    deadline = (): void => {};

    constructor(private readonly written: () => void) {
      super();
    }

    readonly body = {
      read: (_limitBytes: number, _tooLarge: () => void, work: (body: Uint8Array) => void): void =>
        work(Buffer.from(JSON.stringify(forwardedBody(0)))),
    };

    send(): void {
      this.written();
    }

    protected thrown(error: unknown): void {
      this.errors.push(error);
    }
  }

  async function errorsOf(written: () => void, take: () => Promise<void>): Promise<unknown[]> {
    const kernel = { exports: { encodeOne: () => OK }, textAt: () => 'HN-6GHP4-83RFR' };
    const forwarder = { hasSpace: () => true, take };
    const [route] = traccarRoutes({
      kernel: kernel as never,
      forwarder: forwarder as never,
      logsPositions: false,
    });
    const x = new FakeExchange(written);
    route!.handle(x as never, {} as Parameters<Route['handle']>[1]);
    await nextTurn();
    return x.errors;
  }

  test('an answer that cannot be written, and a position that is not taken, end at the guard of the exchange', async () => {
    const unwritable = new Error('the answer cannot be written');
    const throwing = (): never => {
      throw unwritable;
    };
    expect(await errorsOf(throwing, () => Promise.resolve())).toEqual([unwritable]);
    const notTaken = new NotTakenError('the disk is full');
    expect(await errorsOf(throwing, () => Promise.reject(notTaken))).toEqual([notTaken]);
    let answers = 0;
    const count = (): number => answers++;
    expect(await errorsOf(count, () => Promise.resolve())).toEqual([]);
    expect(answers).toBe(1);
  });
});
