// The layer of a file's points, drawn by WebGL from the arrays that the worker has made: no object for each point, so
// that a million of them cost the page one copy to the graphics card.
import type { CustomLayerInterface, CustomRenderMethodInput } from 'maplibre-gl';
import { ANCHOR, type PointsToDraw, provinceColor } from './drawn-points.js';

const NO_PROVINCE = 34;
const COLORS = NO_PROVINCE + 1;
/** Opacity of positions in no province. */
const FAINT = 0.3;
const LARGE_PX = 9;

const VERTEX = `#version 300 es
in vec2 offset;
in uint admin;
uniform mat4 from_anchor;
uniform float size;
uniform vec4 colors[${COLORS}];
out vec4 color;
void main() {
  gl_Position = from_anchor * vec4(offset, 0.0, 1.0);
  gl_PointSize = size;
  color = colors[min(admin, ${NO_PROVINCE}u)];
}`;

/** A disc; a large one has a light rim. Colours are multiplied by their alpha, as MapLibre blends them. */
const FRAGMENT = `#version 300 es
precision highp float;
in vec4 color;
uniform float size;
out vec4 drawn;
void main() {
  float far = length(gl_PointCoord - 0.5) * 2.0;
  if (far > 1.0) discard;
  float rim = size < ${LARGE_PX}.0 ? 0.0 : smoothstep(0.72, 0.86, far) * 0.85;
  drawn = vec4(mix(color.rgb, vec3(1.0), rim), 1.0) * color.a;
}`;

interface Drawing {
  readonly gl: WebGL2RenderingContext;
  readonly program: WebGLProgram;
  readonly array: WebGLVertexArrayObject;
  readonly buffers: readonly WebGLBuffer[];
}

export class PointsLayer implements CustomLayerInterface {
  static readonly ID = 'file-points';
  readonly id = PointsLayer.ID;
  readonly type = 'custom';
  #drawing: Drawing | undefined;

  constructor(private readonly points: PointsToDraw) {}

  onAdd(_map: unknown, gl: WebGL2RenderingContext): void {
    const program = gl.createProgram();
    for (const [type, source] of [
      [gl.VERTEX_SHADER, VERTEX],
      [gl.FRAGMENT_SHADER, FRAGMENT],
    ] as const) {
      const shader = gl.createShader(type)!;
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS))
      throw new Error(gl.getProgramInfoLog(program) ?? '');
    const array = gl.createVertexArray();
    const [offsets, admins] = [gl.createBuffer(), gl.createBuffer()];
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, offsets);
    gl.bufferData(gl.ARRAY_BUFFER, this.points.offsets, gl.STATIC_DRAW);
    const offset = gl.getAttribLocation(program, 'offset');
    gl.enableVertexAttribArray(offset);
    gl.vertexAttribPointer(offset, 2, gl.FLOAT, false, 0, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, admins);
    gl.bufferData(gl.ARRAY_BUFFER, this.points.admins, gl.STATIC_DRAW);
    const admin = gl.getAttribLocation(program, 'admin');
    gl.enableVertexAttribArray(admin);
    gl.vertexAttribIPointer(admin, 1, gl.UNSIGNED_BYTE, 0, 0);
    gl.bindVertexArray(null);
    gl.useProgram(program);
    const colors = Array.from({ length: COLORS }, (_, admin) => [
      ...provinceColor(admin).map((part) => part / 255),
      admin === NO_PROVINCE ? FAINT : 1,
    ]).flat();
    gl.uniform4fv(gl.getUniformLocation(program, 'colors'), colors);
    this.#drawing = { gl, program, array, buffers: [offsets, admins] };
  }

  render(_gl: unknown, { defaultProjectionData }: CustomRenderMethodInput): void {
    if (this.#drawing === undefined) return;
    const { gl, program, array } = this.#drawing;
    gl.useProgram(program);
    gl.uniformMatrix4fv(
      gl.getUniformLocation(program, 'from_anchor'),
      false,
      fromAnchor(defaultProjectionData.mainMatrix),
    );
    gl.uniform1f(gl.getUniformLocation(program, 'size'), this.#sizePixels());
    gl.bindVertexArray(array);
    gl.enable(gl.BLEND);
    gl.drawArrays(gl.POINTS, 0, this.points.admins.length);
    gl.bindVertexArray(null);
  }

  onRemove(): void {
    if (this.#drawing === undefined) return;
    const { gl, program, array, buffers } = this.#drawing;
    gl.deleteProgram(program);
    gl.deleteVertexArray(array);
    for (const buffer of buffers) gl.deleteBuffer(buffer);
    this.#drawing = undefined;
  }

  /** Few points are drawn large. */
  #sizePixels(): number {
    const count = this.points.admins.length;
    return (count > 100_000 ? 4 : count > 5000 ? 6 : 10) * devicePixelRatio;
  }
}

/** The matrix for offsets from the anchor, in 64 bits until here: near it, offsets of 32 bits are exact enough. */
function fromAnchor(matrix: ArrayLike<number>): Float32Array {
  const moved = Float64Array.from(matrix);
  for (let row = 0; row < 4; row++) moved[12 + row]! += matrix[row]! * ANCHOR.x + matrix[4 + row]! * ANCHOR.y;
  return Float32Array.from(moved);
}
