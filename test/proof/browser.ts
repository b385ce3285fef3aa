// `npm run proof -- browser`: hexcodes/web in a page of a real browser (Debian's chromium, or CHROMIUM=path): every
// recorded code and centre, geometry, and 200,000 seeded positions with the same answers as in Node.

import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { chromium } from 'playwright-core';
import { Hexcodes } from '#hexcodes';
import { randomFrom } from '../support/open-world.js';

const POINTS = 200_000;
const SEED = 1;
const PAGE = '<!doctype html><meta charset="utf-8"><title>hexcodes/web</title>';

export default async function browser(): Promise<void> {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  if (!existsSync(executablePath)) {
    throw new Error(`no browser at ${executablePath}: install chromium, or name one with CHROMIUM=path`);
  }
  const server = createServer((request, response) => {
    const name = /^\/(hexcodes|geometry)\.js$/.exec(request.url ?? '')?.[0];
    response.setHeader('Content-Type', name === undefined ? 'text/html' : 'text/javascript');
    response.end(name === undefined ? PAGE : readFileSync(resolve(`src/hexcodes/dist/web${name}`)));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const running = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-background-networking'],
  });
  try {
    const page = await running.newPage();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    page.on('pageerror', (error) => {
      throw error;
    });
    await page.goto(`http://127.0.0.1:${port}/`);
    const rows = readFileSync('test/vectors/codes.csv', 'utf8')
      .split('\n')
      .filter((line) => /^[^#].*,\d/.test(line))
      .map((line) => line.split(',').slice(4));
    const vectors = await page.evaluate(inPageVectors, rows as string[][]);
    console.log(
      `${running.version()}: ${vectors.right} of ${rows.length} recorded codes, geometry ${vectors.neighbors} neighbours`,
    );
    const random = randomFrom(SEED);
    const latLngDeg = Array.from({ length: 2 * POINTS }, (_, i) =>
      i % 2 === 0 ? 8 + random() * 15 : 102 + random() * 8,
    );
    const node = await Hexcodes.load();
    const expected = Buffer.from(node.encodeBatch(Float64Array.from(latLngDeg))).toString('base64');
    const actual = await page.evaluate(inPageBatch, latLngDeg);
    const isEqual = actual === expected;
    console.log(`${POINTS} positions, seed ${SEED}: ${isEqual ? 'the same bytes as in Node' : 'DIFFERENT'}`);
    console.log(`the page asked for ${asked.join(', ')}`);
    if (vectors.right !== rows.length || vectors.neighbors !== 6 || !isEqual) process.exitCode = 1;
  } finally {
    await running.close();
    server.close();
  }
}

type Web = typeof import('#dist/hexcodes/library/hexcodes.js');
type Geometry = typeof import('#dist/hexcodes/geometry.js');

/** Runs in the page. */
async function inPageVectors(rows: string[][]): Promise<{ right: number; neighbors: number }> {
  const load = (path: string): Promise<unknown> => import(path);
  const { Hexcodes } = (await load('/hexcodes.js')) as Web;
  const { neighbors } = (await load('/geometry.js')) as Geometry;
  const hexcodes = await Hexcodes.load();
  let right = 0;
  for (const [adminCode, cell, code, lat, lng] of rows) {
    const read = hexcodes.read(code as string);
    const isRight =
      hexcodes.pack(BigInt(`0x${cell}`), adminCode as string) === code &&
      read !== null &&
      Math.abs(read.lat - Number(lat)) < 1e-9 &&
      Math.abs(read.lng - Number(lng)) < 1e-9;
    if (isRight) right++;
  }
  return { right, neighbors: neighbors(hexcodes, 'HN-6GHP4-83RFR').length };
}

/** Runs in the page. */
async function inPageBatch(latLngDeg: number[]): Promise<string> {
  const load = (path: string): Promise<unknown> => import(path);
  const { Hexcodes } = (await load('/hexcodes.js')) as Web;
  const records = (await Hexcodes.load()).encodeBatch(Float64Array.from(latLngDeg));
  let text = '';
  for (let at = 0; at < records.length; at += 8190) {
    text += String.fromCharCode(...records.subarray(at, at + 8190));
  }
  return btoa(text);
}
