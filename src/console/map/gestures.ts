// Moves of mouse, fingers and keys over the map that is drawn on a canvas.

export interface Moves {
  /** In pixels. */
  move(dx: number, dy: number): void;
  /** Zooms by a factor, around a position on the canvas; its middle if absent. */
  zoom(factor: number, x?: number, y?: number): void;
  choose(x: number, y: number): void;
}

/** A finger that moves less than this has tapped. */
const TAP_PX = 5;
const KEY_STEP_PX = 80;

export function listenForMoves(canvas: HTMLCanvasElement, moves: Moves): void {
  const fingers = new Map<number, { x: number; y: number }>();
  let travelled = 0;

  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    if (fingers.size === 0) travelled = 0;
    fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
  });
  canvas.addEventListener('pointermove', (event) => {
    const before = fingers.get(event.pointerId);
    if (before === undefined) return;
    const now = { x: event.offsetX, y: event.offsetY };
    fingers.set(event.pointerId, now);
    travelled += Math.hypot(now.x - before.x, now.y - before.y);
    const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
    if (other === undefined) {
      if (travelled > TAP_PX) moves.move(now.x - before.x, now.y - before.y);
      return;
    }
    const apart = (from: typeof now): number => Math.hypot(from.x - other.x, from.y - other.y) || 1;
    moves.zoom(apart(now) / apart(before), (now.x + other.x) / 2, (now.y + other.y) / 2);
  });
  const lift = (event: PointerEvent): void => {
    const wasTap = event.type === 'pointerup' && fingers.size === 1 && travelled <= TAP_PX;
    fingers.delete(event.pointerId);
    if (wasTap) moves.choose(event.offsetX, event.offsetY);
  };
  canvas.addEventListener('pointerup', lift);
  canvas.addEventListener('pointercancel', lift);
  canvas.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault();
      moves.zoom(2 ** (-event.deltaY / 300), event.offsetX, event.offsetY);
    },
    { passive: false },
  );
  canvas.addEventListener('keydown', (event) => {
    const step: Record<string, () => void> = {
      ArrowLeft: () => moves.move(KEY_STEP_PX, 0),
      ArrowRight: () => moves.move(-KEY_STEP_PX, 0),
      ArrowUp: () => moves.move(0, KEY_STEP_PX),
      ArrowDown: () => moves.move(0, -KEY_STEP_PX),
      '+': () => moves.zoom(2),
      '=': () => moves.zoom(2),
      '-': () => moves.zoom(0.5),
      Enter: () => moves.choose(canvas.clientWidth / 2, canvas.clientHeight / 2),
    };
    const run = step[event.key];
    if (run === undefined) return;
    event.preventDefault();
    run();
  });
}
