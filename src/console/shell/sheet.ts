// The sheet below the map on a phone: dragged by its upper edge between three heights, or moved by arrow keys
// (style/2-layout.css).
import { byId } from './elements.js';

/** From the lowest: the box and the code; room for a panel; all but a strip of the map. */
const HEIGHTS = ['low', 'middle', 'high'] as const;
/** A finger that moves less has tapped. */
const TAP_PX = 5;

export function openSheet(): void {
  const desk = byId('desk');
  const edge = byId('sheet-edge');
  let now = 1;
  const set = (next: number): void => {
    now = Math.max(0, Math.min(HEIGHTS.length - 1, next));
    desk.dataset.height = HEIGHTS[now];
    edge.setAttribute('aria-valuenow', String(now));
  };
  set(now);

  let from: { y: number; height: number } | undefined;
  edge.addEventListener('pointerdown', (event) => {
    edge.setPointerCapture(event.pointerId);
    from = { y: event.clientY, height: desk.clientHeight };
  });
  edge.addEventListener('pointermove', ({ clientY }) => {
    if (from !== undefined) desk.style.height = `${from.height + from.y - clientY}px`;
  });
  const drop = ({ clientY }: PointerEvent): void => {
    if (from === undefined) return;
    const isTap = Math.abs(clientY - from.y) < TAP_PX;
    const dropped = from.height + from.y - clientY;
    from = undefined;
    desk.style.height = '';
    if (isTap) {
      set((now + 1) % HEIGHTS.length);
      return;
    }
    const far = HEIGHTS.map((_, height) => {
      set(height);
      return Math.abs(desk.clientHeight - dropped);
    });
    set(far.indexOf(Math.min(...far)));
  };
  edge.addEventListener('pointerup', drop);
  edge.addEventListener('pointercancel', drop);
  edge.addEventListener('keydown', (event) => {
    const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    set(now + step);
  });
}
