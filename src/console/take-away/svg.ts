// Makes elements of SVG. Only attributes: the policy of the page lets no element have a style of its own.

import { encode } from 'uqr';

// QR codes as SVG.

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

const SVG = 'http://www.w3.org/2000/svg';

export function svg<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Readonly<Record<string, string | number>> = {},
  ...children: (Node | string)[]
): SVGElementTagNameMap[K] {
  const made = document.createElementNS(SVG, name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, String(value));
  made.append(...children);
  return made;
}

/** The picture as a file of its own. */
export function svgFile(picture: SVGSVGElement): Blob {
  return new Blob([new XMLSerializer().serializeToString(picture)], { type: 'image/svg+xml' });
}
