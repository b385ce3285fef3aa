// Single positions become hexcodes: MQTT publishes of npm's mqtt client, Traccar's JSON, by a collector and a worker;
// nothing lost or doubled where collectors are killed, and where two of them run.
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import mqtt from 'mqtt';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Hexcodes } from '#hexcodes';
import { CliFolder } from '../../support/cli.js';
import { loadLibrary, positionsOf } from '../../support/engine/frames.js';
import { WorkerProcess } from '../../support/engine/worker-process.js';
import { messagesOf, NatsServer, natsNote, noNats } from '../../support/nats.js';

describe.skipIf(noNats !== undefined)(`the collector${natsNote}`, () => {
  const folder = new CliFolder();
  let server: NatsServer;
  let nc: NatsConnection;
  let library: Hexcodes;
  let processes: WorkerProcess[] = [];
  beforeAll(async () => {
    library = await loadLibrary();
  });
  afterEach(async () => {
    await Promise.all(processes.map((each) => each.end('SIGKILL')));
    processes = [];
    await server.remove();
  });
  afterAll(() => folder.remove());

  async function setUp(): Promise<void> {
    server = await NatsServer.start();
    nc = await server.connect();
    const args = ['--nats', server.url, '--max-bytes', '256M', '--collect', 'fleet.*.position'];
    const ran = await folder.run(['worker', 'setup', ...args]);
    expect([ran.code, ran.stderr.split('\n').length]).toEqual([0, 7]);
  }
  function start(...args: string[]): WorkerProcess {
    const started = new WorkerProcess(server.url, [...args, '--report', '100ms']);
    processes.push(started);
    return started;
  }

  interface Answer {
    readonly source: string;
    readonly code: string;
  }
  /** The answers to all positions, in the order of the frames. */
  async function answers(): Promise<Answer[]> {
    const frames = await messagesOf(nc, 'HEXCODES_OUT');
    return frames
      .sort((a, b) => firstOf(a.headers) - firstOf(b.headers))
      .flatMap(({ bytes, headers }) => {
        const sources = JSON.parse(headers.get('Hexcodes-Sources')!) as string[];
        expect(bytes.length).toBe(16 + 20 * sources.length);
        return sources.map((source, i) => ({
          source,
          code: new TextDecoder().decode(bytes.subarray(16 + 20 * i, 35 + 20 * i)).replace(/\0+$/, ''),
        }));
      });
  }
  const firstOf = (headers: ReadonlyMap<string, string>): number =>
    Number(headers.get('Hexcodes-Sequences')!.split('-')[0]);
  const codeOf = (latDeg: number, lngDeg: number): string => {
    try {
      return library.encode(latDeg, lngDeg).hexcodes;
    } catch {
      return '';
    }
  };

  test('MQTT publishes come out as hexcodes, those of one vehicle in their order', async () => {
    await setUp();
    start('collect');
    start('run');
    const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${server.mqttPort}`, { clientId: 'vehicles' });
    const latLng = positionsOf(1, 500);
    const wanted: Answer[] = [];
    const publishing: Promise<unknown>[] = [];
    for (let i = 0; i < 500; i++) {
      const [lat, lng] = [latLng[2 * i]!, latLng[2 * i + 1]!];
      const vehicle = `xe-${i % 7}`;
      // As vehicles do it, and as Traccar forwards it.
      const message =
        i % 2 === 0
          ? { id: vehicle, lat, lng, speed: 7 }
          : {
              position: { latitude: lat, longitude: lng, deviceId: 3 },
              device: { id: 3, uniqueId: vehicle },
            };
      wanted.push({ source: vehicle, code: codeOf(lat, lng) });
      publishing.push(client.publishAsync(`fleet/${i % 7}/position`, JSON.stringify(message), { qos: 1 }));
    }
    await Promise.all(publishing);
    await expect.poll(async () => (await answers()).length, { timeout: 60_000, interval: 300 }).toBe(500);
    const found = await answers();
    for (let vehicle = 0; vehicle < 7; vehicle++) {
      const of = (all: Answer[]) => all.filter(({ source }) => source === `xe-${vehicle}`);
      expect(of(found)).toEqual(of(wanted));
    }
    await client.endAsync();
  });

  test('a message without a position is a dead letter, one without a vehicle has its subject', async () => {
    await setUp();
    const bodies = ['{"lat":21.03,"lng":105.85}', 'x', '{"speed":7}', '{"lat":10.78,"lng":106.7,"id":9}'];
    for (const body of bodies) await jetstream(nc).publish('fleet.3.position', body);
    const collector = start('collect');
    start('run');
    await expect.poll(async () => (await answers()).length).toBe(2);
    expect(await answers()).toEqual([
      { source: 'fleet.3.position', code: codeOf(21.03, 105.85) },
      { source: '9', code: codeOf(10.78, 106.7) },
    ]);
    const letters = await messagesOf(nc, 'HEXCODES_DEAD');
    expect(letters.map(({ headers }) => headers.get('Hexcodes-Reason'))).toEqual([
      'it is no JSON',
      'it has no members for latitude and longitude, as lat and lng',
    ]);
    await collector.says(/2 positions {2}\d frames {2}2 dead letters/);
    expect(await collector.end()).toBe(0);
  });

  test('two collectors, one killed again and again, and the server once: each position in one frame', async () => {
    await setUp();
    const count = 4000;
    const latLng = positionsOf(2, count);
    const client = jetstream(nc);
    const publish = async (i: number): Promise<void> => {
      const body = JSON.stringify({ id: i, lat: latLng[2 * i], lng: latLng[2 * i + 1] });
      // Sent again where its acknowledgement was lost: the stream knows the id.
      for (;;)
        try {
          await client.publish(`fleet.${i % 9}.position`, body, { msgID: `p${i}`, timeout: 2000 });
          return;
        } catch {}
    };
    const small = ['collect', '--points', '50', '--wait', '20ms'];
    start(...small);
    let victim = start(...small);
    for (let from = 0; from < count; from += 200) {
      await Promise.all(Array.from({ length: 200 }, (_, k) => publish(from + k)));
      if (from === 2000) {
        await server.kill();
        await server.resume();
      }
      if (from % 800 === 0) {
        await victim.end('SIGKILL');
        victim = start(...small);
      }
    }
    const jsm = await jetstreamManager(nc);
    const lastOf = async (): Promise<number> => {
      const frame = await jsm.streams.getMessage('HEXCODES_IN', { last_by_subj: 'hexcodes.in.collected.*' });
      return Number(frame?.header.get('Hexcodes-Sequences').split('-')[1]);
    };
    const { last_seq } = (await jsm.streams.info('HEXCODES_POSITIONS')).state;
    await expect.poll(lastOf, { timeout: 60_000, interval: 200 }).toBe(last_seq);
    const frames = await messagesOf(nc, 'HEXCODES_IN');
    const sources = frames
      .sort((a, b) => firstOf(a.headers) - firstOf(b.headers))
      .flatMap(({ bytes, headers }) => {
        const ids = JSON.parse(headers.get('Hexcodes-Sources')!) as string[];
        const view = new DataView(bytes.buffer, bytes.byteOffset);
        return ids.map((id, k) => ({ id: Number(id), lat: view.getFloat64(16 + 16 * k, true) }));
      });
    expect(sources.map(({ id }) => id).sort((a, b) => a - b)).toEqual(
      Array.from({ length: count }, (_, i) => i),
    );
    for (const { id, lat } of sources) expect(lat).toBe(latLng[2 * id]);
  });
});
