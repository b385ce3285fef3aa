// The layer of counted hexagons: the map's own sources would copy thousands of shapes on the thread of the page.
import type { Counted } from '../points/drawn-points.js';
import { isDark } from '../shell/switches.js';
import { ArraysLayer, type Corners, GlProgram, type LayerUniform } from './arrays-layer.js';
import { COUNT_OPACITY, paletteOf } from './palette.js';

const EDGE_OPACITY = 0.6;
/** Classes, and after them the edges. */
const COLORS = 7;

const VERTEX = `#version 300 es
layout(location = 0) in vec2 offset;
layout(location = 1) in uint level;
uniform mat4 from_anchor;
uniform vec4 colors[${COLORS}];
uniform bool is_edge;
out vec4 color;
void main() {
  gl_Position = from_anchor * vec4(offset, 0.0, 1.0);
  color = colors[is_edge ? ${COLORS - 1}u : level];
}`;

const FRAGMENT = `#version 300 es
precision mediump float;
in vec4 color;
out vec4 drawn;
void main() {
  drawn = color;
}`;

export class CountsLayer extends ArraysLayer<Counted, 'is_edge'> {
  static readonly ID = 'counts';
  readonly id = CountsLayer.ID;
  /** Elements of triangles, and after them of lines. */
  #triangles = 0;
  #lines = 0;

  static readonly program = (gl: WebGL2RenderingContext): GlProgram<LayerUniform | 'is_edge'> =>
    new GlProgram(gl, VERTEX, FRAGMENT, ['from_anchor', 'colors', 'is_edge']);

  protected corners(): Corners {
    const { corners: offsets, ends, classes } = this.data;
    const all = offsets.length / 2;
    const levels = new Uint8Array(all);
    // A hexagon of n corners is a fan of n - 2 triangles.
    this.#triangles = 3 * (all - 2 * ends.length);
    this.#lines = 2 * all;
    const elements = new Uint32Array(this.#triangles + this.#lines);
    let [triangle, line] = [0, this.#triangles];
    let first = 0;
    ends.forEach((end, hexagon) => {
      levels.fill(classes[hexagon]!, first, end);
      for (let corner = first; corner < end; corner++) {
        elements[line++] = corner;
        elements[line++] = corner + 1 < end ? corner + 1 : first;
        if (corner < first + 2) continue;
        elements[triangle++] = first;
        elements[triangle++] = corner - 1;
        elements[triangle++] = corner;
      }
      first = end;
    });
    return { offsets, levels, elements };
  }

  /** Colours of the classes and of edges, multiplied by their alpha, as MapLibre blends them. */
  protected colors(): number[] {
    const { levels, ground } = paletteOf(isDark.now);
    return [...levels, ground].flatMap((color, i) => {
      const alpha = i < levels.length ? COUNT_OPACITY : EDGE_OPACITY;
      const parts = [1, 3, 5].map((from) => (Number.parseInt(color.slice(from, from + 2), 16) / 255) * alpha);
      return [...parts, alpha];
    });
  }

  protected draw(
    gl: WebGL2RenderingContext,
    { is_edge }: Readonly<Record<'is_edge', WebGLUniformLocation | null>>,
  ): void {
    gl.uniform1i(is_edge, 0);
    gl.drawElements(gl.TRIANGLES, this.#triangles, gl.UNSIGNED_INT, 0);
    gl.uniform1i(is_edge, 1);
    gl.drawElements(gl.LINES, this.#lines, gl.UNSIGNED_INT, 4 * this.#triangles);
  }
}
