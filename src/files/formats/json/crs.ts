// The `crs` member that GeoJSON had before RFC 7946, and that many programs still write: coordinates of any other
// system than WGS 84 are refused, because they would be read as degrees.

import { badInput } from '../../file-faults.js';

/** WGS 84, by the names that it has there; in GeoJSON longitude comes first with each of them. */
const WGS_84 = /(?:\bCRS:?84|\b4326)$/i;

const MEMBER =
  /"crs"\s*:\s*\{[^{}]*"properties"\s*:\s*\{[^{}]*"(?:name|code|href)"\s*:\s*(?:"([^"]*)"|(\d+))/;

/** @param text around the features of a collection. @throws CliFailure BAD_INPUT if it names another system */
export function refuseOtherSystem(text: string, file: string): void {
  const [, name, code] = MEMBER.exec(text) ?? [];
  const system = name ?? (code === undefined ? undefined : `EPSG:${code}`);
  if (system === undefined || WGS_84.test(system.trim())) return;
  throw badInput(
    { file },
    `its coordinates are in another system than WGS 84: ${JSON.stringify(system.slice(0, 60))}`,
    'ogr2ogr -t_srs EPSG:4326 -lco RFC7946=YES converts them.',
  );
}
