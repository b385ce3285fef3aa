// The versions that a metric shows, so that a change of behaviour can be laid beside a change of what runs.
import { createHash } from 'node:crypto';
import type { HexcodesData } from '../../hexcodes/library/hexcodes.js';
import { VERSION } from '../../hexcodes/version.js';
import type { Labels } from '../metrics/registry.js';
import type { BoundaryData } from '../routes/boundary-data.js';
import type { UwsBuild } from '../transport/load-uws.js';

/** So much of a SHA-256, in hexadecimal, as tells builds apart. */
const DIGITS = 12;

export function versionLabels(
  kernel: HexcodesData['kernel'],
  { meta, sha256 }: BoundaryData,
  transport: UwsBuild,
): Labels {
  return {
    version: VERSION,
    kernel: ArrayBuffer.isView(kernel) ? sha256Of(kernel).slice(0, DIGITS) : '',
    data: sha256.slice(0, DIGITS),
    data_date: meta.source.date,
    transport: transport.name,
    transport_version: transport.version,
    node: process.versions.node,
  };
}

function sha256Of({ buffer, byteOffset, byteLength }: ArrayBufferView): string {
  return createHash('sha256')
    .update(new Uint8Array(buffer, byteOffset, byteLength))
    .digest('hex');
}
