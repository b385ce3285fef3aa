// The layer of counted hexagons, drawn by WebGL from the arrays that the worker has made: the map's own sources would
// copy thousands of shapes on the thread of the page.
import type { CustomLayerInterface, CustomRenderMethodInput } from 'maplibre-gl';
import type { Counted } from '../points/drawn-points.js';
import { isDark } from '../shell/switches.js';
import { fromAnchor, GlProgram } from './gl-program.js';
import { COUNT_OPACITY, paletteOf } from './palette.js';

const EDGE_OPACITY = 0.6;
/** Classes, and behind them the edges. */
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

type CountsProgram = GlProgram<'from_anchor' | 'colors' | 'is_edge'>;

interface Drawing {
  readonly gl: WebGL2RenderingContext;
  readonly array: WebGLVertexArrayObject;
  readonly corners: WebGLBuffer;
  readonly levels: WebGLBuffer;
  readonly elements: WebGLBuffer;
  /** Elements of triangles, and behind them of lines. */
  readonly counts: { triangles: number; lines: number };
}

export class CountsLayer implements CustomLayerInterface {
  static readonly ID = 'counts';
  readonly id = CountsLayer.ID;
  readonly type = 'custom';
  #drawing: Drawing | undefined;

  static readonly program = (gl: WebGL2RenderingContext): CountsProgram =>
    new GlProgram(gl, VERTEX, FRAGMENT, ['from_anchor', 'colors', 'is_edge']);

  constructor(
    private readonly program: CountsProgram,
    private counted: Counted,
  ) {}

  /** Other hexagons. */
  replace(counted: Counted): void {
    this.counted = counted;
    this.#fill();
  }

  onAdd(_map: unknown, gl: WebGL2RenderingContext): void {
    const array = gl.createVertexArray();
    const [corners, levels, elements] = [gl.createBuffer(), gl.createBuffer(), gl.createBuffer()];
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, corners);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, levels);
    gl.enableVertexAttribArray(1);
    gl.vertexAttribIPointer(1, 1, gl.UNSIGNED_BYTE, 0, 0);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, elements);
    gl.bindVertexArray(null);
    this.#drawing = { gl, array, corners, levels, elements, counts: { triangles: 0, lines: 0 } };
    this.#fill();
  }

  render(_gl: unknown, { defaultProjectionData }: CustomRenderMethodInput): void {
    if (this.#drawing === undefined) return;
    const { gl, array, counts } = this.#drawing;
    const uniforms = this.program.use();
    gl.uniformMatrix4fv(uniforms.from_anchor, false, fromAnchor(defaultProjectionData.mainMatrix));
    gl.uniform4fv(uniforms.colors, colorsNow());
    gl.bindVertexArray(array);
    gl.enable(gl.BLEND);
    gl.uniform1i(uniforms.is_edge, 0);
    gl.drawElements(gl.TRIANGLES, counts.triangles, gl.UNSIGNED_INT, 0);
    gl.uniform1i(uniforms.is_edge, 1);
    gl.drawElements(gl.LINES, counts.lines, gl.UNSIGNED_INT, 4 * counts.triangles);
    gl.bindVertexArray(null);
  }

  onRemove(): void {
    if (this.#drawing === undefined) return;
    const { gl, array, corners, levels, elements } = this.#drawing;
    gl.deleteVertexArray(array);
    for (const buffer of [corners, levels, elements]) gl.deleteBuffer(buffer);
    this.#drawing = undefined;
  }

  #fill(): void {
    if (this.#drawing === undefined) return;
    const { gl, array, corners, levels, elements, counts } = this.#drawing;
    const { counted } = this;
    const all = counted.corners.length / 2;
    const levelOf = new Uint8Array(all);
    // A hexagon of n corners is a fan of n - 2 triangles.
    counts.triangles = 3 * (all - 2 * counted.ends.length);
    counts.lines = 2 * all;
    const used = new Uint32Array(counts.triangles + counts.lines);
    let [triangle, line] = [0, counts.triangles];
    let first = 0;
    counted.ends.forEach((end, hexagon) => {
      levelOf.fill(counted.classes[hexagon]!, first, end);
      for (let corner = first; corner < end; corner++) {
        used[line++] = corner;
        used[line++] = corner + 1 < end ? corner + 1 : first;
        if (corner < first + 2) continue;
        used[triangle++] = first;
        used[triangle++] = corner - 1;
        used[triangle++] = corner;
      }
      first = end;
    });
    gl.bindBuffer(gl.ARRAY_BUFFER, corners);
    gl.bufferData(gl.ARRAY_BUFFER, counted.corners, gl.DYNAMIC_DRAW);
    gl.bindBuffer(gl.ARRAY_BUFFER, levels);
    gl.bufferData(gl.ARRAY_BUFFER, levelOf, gl.DYNAMIC_DRAW);
    gl.bindBuffer(gl.ARRAY_BUFFER, null);
    // The binding of elements belongs to the array.
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, elements);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, used, gl.DYNAMIC_DRAW);
    gl.bindVertexArray(null);
  }
}

/** Red, green, blue and alpha of each class and of edges, multiplied by their alpha, as MapLibre blends them. */
function colorsNow(): number[] {
  const { levels, ground } = paletteOf(isDark.now);
  return [...levels, ground].flatMap((color, i) => {
    const alpha = i < levels.length ? COUNT_OPACITY : EDGE_OPACITY;
    const parts = [1, 3, 5].map((from) => (Number.parseInt(color.slice(from, from + 2), 16) / 255) * alpha);
    return [...parts, alpha];
  });
}
