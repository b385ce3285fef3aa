// GDAL as a judge: programs of Python with its module osgeo (Debian: python3-gdal).
import { spawnSync } from 'node:child_process';

const PYTHON = ['/usr/bin/python3', 'python3'].find(
  (each) => spawnSync(each, ['-c', 'import osgeo.ogr']).status === 0,
);
/** Whether GDAL is here. */
export const hasGdal = PYTHON !== undefined;
/** Words for the names of tests that may be skipped. */
export const gdalNote = hasGdal ? '' : ' (python3-gdal is not installed)';
/** Whether `ogr2ogr` is here. */
export const hasOgr2ogr = spawnSync('ogr2ogr', ['--version']).status === 0;

/**
 * Runs a program in which `ogr`, `osr`, `gdal`, `json`, `sys` and `sqlite3` are imported.
 * @returns what it prints, parsed as JSON
 */
export function gdal(program: string, args: readonly string[] = [], input = ''): unknown {
  const head = 'import json, sqlite3, sys\nfrom osgeo import gdal, ogr, osr\ngdal.UseExceptions()\n';
  const ran = spawnSync(PYTHON!, ['-B', '-W', 'ignore', '-c', `${head}${program}`, ...args], {
    input,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    env: { ...process.env, PYTHONUTF8: '1' },
  });
  if (ran.status !== 0) throw new Error(`GDAL: ${ran.stderr}`);
  return JSON.parse(ran.stdout);
}
