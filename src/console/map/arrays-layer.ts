// Layers of the map that WebGL draws from arrays of a worker: no object for each point, so that a million of them cost
// the page one copy to the graphics card.
import type { CustomLayerInterface, CustomRenderMethodInput } from 'maplibre-gl';
import { ANCHOR } from '../points/drawn-points.js';

/**
 * A program with its uniforms. A question about it waits for all that the driver has still to draw, which takes long
 * without a graphics card: it is made, and asked about, before there is much to draw.
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

  /** Draws something else, without a program of its own: the points of a fleet change several times a second. */
  replace(data: Data): void {
    this.data = data;
    this.#fill();
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
