// QR codes as SVG.
import { encode } from 'uqr';
import { svg } from './svg.js';

/** Modules of quiet around a QR code (ISO/IEC 18004). */
const QUIET = 4;

/**
 * A QR code in black on white, its quiet zone included.
 * @param sizeMm of a side
 */
export function qrCode(text: string, x: number, y: number, sizeMm: number): SVGGElement {
  const { data, size } = encode(text, { ecc: 'M', border: QUIET });
  const path = data
    .flatMap((row, top) => row.map((isDark, left) => (isDark ? `M${left} ${top}h1v1h-1z` : '')))
    .join('');
  const scale = sizeMm / size;
  return svg(
    'g',
    { transform: `translate(${x} ${y}) scale(${scale})`, role: 'img', 'aria-label': text, class: 'qr' },
    svg('rect', { width: size, height: size, fill: '#fff' }),
    svg('path', { d: path, fill: '#000', 'shape-rendering': 'crispEdges' }),
  );
}
