// Parts that layers of the map share which WebGL draws from arrays.
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

/** The matrix for offsets from the anchor, in 64 bits until here: near it, offsets of 32 bits are exact enough. */
export function fromAnchor(matrix: ArrayLike<number>): Float32Array {
  const moved = Float64Array.from(matrix);
  for (let row = 0; row < 4; row++) moved[12 + row]! += matrix[row]! * ANCHOR.x + matrix[4 + row]! * ANCHOR.y;
  return Float32Array.from(moved);
}
