// The contrast of two colours, as WCAG 2.2 defines it.

/** Relative luminance. @param rgb each 0 to 255 */
function luminance(rgb: readonly number[]): number {
  const [red, green, blue] = rgb.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

const rgbOf = (color: string | readonly number[]): readonly number[] =>
  typeof color === 'string'
    ? [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))
    : color.slice(0, 3);

/** From 1 to 21. @param one `#rrggbb`, or red, green and blue from 0 to 255 */
export function contrast(one: string | readonly number[], other: string | readonly number[]): number {
  const [low, high] = [one, other].map((color) => luminance(rgbOf(color))).sort((a, b) => a - b);
  return (high! + 0.05) / (low! + 0.05);
}
