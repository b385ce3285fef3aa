// Layers of the map that WebGL draws from arrays of a worker: no object for each point, so that a million of them cost
// the page one copy to the graphics card.

import type { CustomLayerInterface, CustomRenderMethodInput } from 'maplibre-gl';
import { ANCHOR, type Counted } from '../points/drawn-points.js';
import { isDark } from '../shell/switches.js';
import { COUNT_OPACITY, paletteOf } from './palette.js';

/**
 * A program with its uniforms. A query about it waits for all pending drawing of the driver, which takes long without
 * a graphics card, so it is made and queried before there is much to draw.
 */
export class GlProgram<Name extends string> {
  readonly #program: WebGLProgram;
  #uniforms: Readonly<Record<Name, WebGLUniformLocation | null>> | undefined;

  constructor(
    private readonly gl: WebGL2RenderingContext,
    vertex: string,
    fragment: string,
    private readonly names: readonly Name[],
  ) {
    this.#program = gl.createProgram();
    for (const [type, source] of [
      [gl.VERTEX_SHADER, vertex],
      [gl.FRAGMENT_SHADER, fragment],
    ] as const) {
      const shader = gl.createShader(type)!;
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(this.#program, shader);
    }
    gl.linkProgram(this.#program);
  }

  /** @throws Error with the log of the driver */
  uniforms(): Readonly<Record<Name, WebGLUniformLocation | null>> {
    if (this.#uniforms !== undefined) return this.#uniforms;
    const { gl } = this;
    if (!gl.getProgramParameter(this.#program, gl.LINK_STATUS))
      throw new Error(gl.getProgramInfoLog(this.#program) ?? '');
    const found = this.names.map((name) => [name, gl.getUniformLocation(this.#program, name)]);
    this.#uniforms = Object.fromEntries(found) as Record<Name, WebGLUniformLocation | null>;
    return this.#uniforms;
  }

  /** Makes it the program that draws. */
  use(): Readonly<Record<Name, WebGLUniformLocation | null>> {
    const uniforms = this.uniforms();
    this.gl.useProgram(this.#program);
    return uniforms;
  }
}

/** Uniforms of every layer's program. */
export type LayerUniform = 'from_anchor' | 'colors';

export interface Corners {
  /** Pairs from the anchor. */
  readonly offsets: Float32Array<ArrayBuffer>;
  /** A byte for each corner that its colour follows from. */
  readonly levels: Uint8Array<ArrayBuffer>;
  /** Corners by their places, for shapes; absent for points. */
  readonly elements?: Uint32Array<ArrayBuffer>;
}

interface Drawing {
  readonly gl: WebGL2RenderingContext;
  readonly array: WebGLVertexArrayObject;
  readonly offsets: WebGLBuffer;
  readonly levels: WebGLBuffer;
  readonly elements: WebGLBuffer;
}

export abstract class ArraysLayer<Data, Name extends string> implements CustomLayerInterface {
  abstract readonly id: string;
  readonly type = 'custom';
  #drawing: Drawing | undefined;

  constructor(
    private readonly program: GlProgram<LayerUniform | Name>,
    public data: Data,
  ) {}

  protected abstract corners(): Corners;
  /** Red, green, blue and alpha of each colour. */
  protected abstract colors(): number[];
  protected abstract draw(
    gl: WebGL2RenderingContext,
    uniforms: Readonly<Record<Name, WebGLUniformLocation | null>>,
  ): void;

  /**
   * Draws something else, without a program of its own: the points of a fleet change several times a second.
   * @returns false where it needs another layer
   */
  replace(data: Data): boolean {
    this.data = data;
    this.#fill();
    return true;
  }

  onAdd(_map: unknown, gl: WebGL2RenderingContext): void {
    const array = gl.createVertexArray();
    const [offsets, levels, elements] = [gl.createBuffer(), gl.createBuffer(), gl.createBuffer()];
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, offsets);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, levels);
    gl.enableVertexAttribArray(1);
    gl.vertexAttribIPointer(1, 1, gl.UNSIGNED_BYTE, 0, 0);
    gl.bindVertexArray(null);
    this.#drawing = { gl, array, offsets, levels, elements };
    this.#fill();
  }

  render(_gl: unknown, { defaultProjectionData }: CustomRenderMethodInput): void {
    if (this.#drawing === undefined) return;
    const { gl, array } = this.#drawing;
    const uniforms = this.program.use();
    gl.uniformMatrix4fv(uniforms.from_anchor, false, fromAnchor(defaultProjectionData.mainMatrix));
    gl.uniform4fv(uniforms.colors, this.colors());
    gl.bindVertexArray(array);
    gl.enable(gl.BLEND);
    this.draw(gl, uniforms);
    gl.bindVertexArray(null);
  }

  onRemove(): void {
    if (this.#drawing === undefined) return;
    const { gl, array, offsets, levels, elements } = this.#drawing;
    gl.deleteVertexArray(array);
    for (const buffer of [offsets, levels, elements]) gl.deleteBuffer(buffer);
    this.#drawing = undefined;
  }

  #fill(): void {
    if (this.#drawing === undefined) return;
    const { gl, array, ...buffers } = this.#drawing;
    const { offsets, levels, elements } = this.corners();
    gl.bindBuffer(gl.ARRAY_BUFFER, buffers.offsets);
    gl.bufferData(gl.ARRAY_BUFFER, offsets, gl.DYNAMIC_DRAW);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffers.levels);
    gl.bufferData(gl.ARRAY_BUFFER, levels, gl.DYNAMIC_DRAW);
    gl.bindBuffer(gl.ARRAY_BUFFER, null);
    if (elements === undefined) return;
    // The binding of elements belongs to the array.
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffers.elements);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, elements, gl.DYNAMIC_DRAW);
    gl.bindVertexArray(null);
  }
}

/** The matrix for offsets from the anchor, in 64 bits until here: near it, offsets of 32 bits are exact enough. */
function fromAnchor(matrix: ArrayLike<number>): Float32Array {
  const moved = Float64Array.from(matrix);
  for (let row = 0; row < 4; row++) moved[12 + row]! += matrix[row]! * ANCHOR.x + matrix[4 + row]! * ANCHOR.y;
  return Float32Array.from(moved);
}

// The layer of counted hexagons: the map's own sources would copy thousands of shapes on the thread of the page.

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
