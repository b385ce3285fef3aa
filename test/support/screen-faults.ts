// Faults that a person would find with a page as it is on the screen, by the boxes of its elements: cut off, one over
// the other, too small for a finger. Runs in the page.

export interface ScreenRules {
  /** The least width and height of what one clicks or touches, CSS pixels. */
  readonly minPx: number;
  /** Selectors of elements of which a part has to be in sight without scrolling. */
  readonly inSight: readonly string[];
}

/** One line for each fault. Has to stand alone, as it is sent to the page. */
export function screenFaults({ minPx, inSight }: ScreenRules): string[] {
  const faults: string[] = [];
  const root = document.documentElement;
  const wider = root.scrollWidth - root.clientWidth;
  if (wider > 0) faults.push(`the page is ${wider} px too wide`);

  /** A page that is read from top to bottom. */
  const isLong = getComputedStyle(document.body).overflowY !== 'hidden';

  type Box = { left: number; right: number; top: number; bottom: number };
  const common = (a: Box, b: Box): Box => ({
    left: Math.max(a.left, b.left),
    right: Math.min(a.right, b.right),
    top: Math.max(a.top, b.top),
    bottom: Math.min(a.bottom, b.bottom),
  });
  const isArea = ({ left, right, top, bottom }: Box, minSide = 1.5): boolean =>
    right - left > minSide && bottom - top > minSide;
  const nameOf = (node: Element): string =>
    node.id === '' ? `${node.localName} "${(node.textContent ?? '').trim().slice(0, 24)}"` : `#${node.id}`;
  const scrolls = (node: Element, axis: 'overflowX' | 'overflowY'): boolean =>
    /auto|scroll/.test(getComputedStyle(node)[axis]);
  const above = (node: Element, is: (each: Element) => boolean): Element | undefined => {
    for (let each = node.parentElement; each !== null; each = each.parentElement) if (is(each)) return each;
    return undefined;
  };
  const screen: Box = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
  /** The part that is on the screen now. */
  const seen = (node: Element): Box => {
    let box: Box = node.getBoundingClientRect();
    for (let each = node.parentElement; each !== null && each !== document.body; each = each.parentElement)
      if (getComputedStyle(each).overflow !== 'visible') box = common(box, each.getBoundingClientRect());
    return common(box, screen);
  };
  // Nothing below an open dialog can be reached.
  const dialog = document.querySelector('dialog[open]') ?? document.body;
  const shown = (selector: string): HTMLElement[] =>
    [...dialog.querySelectorAll<HTMLElement>(selector)].filter(
      (node) =>
        node.checkVisibility({ opacityProperty: true, visibilityProperty: true }) &&
        node.closest('.hidden-hint') === null &&
        getComputedStyle(node).clipPath === 'none',
    );

  // An open menu lies over what is below it.
  const menu = document.querySelector('.menu[open] .menu-list');
  const isBelowMenu = (node: Element): boolean =>
    menu !== null &&
    !menu.contains(node) &&
    isArea(common(menu.getBoundingClientRect(), node.getBoundingClientRect()));

  const controls = shown('a[href], button, input, select, textarea, summary');
  for (const node of controls) {
    const box = node.getBoundingClientRect();
    const name = nameOf(node);
    const isInText = getComputedStyle(node).display === 'inline' && node.localName === 'a';
    const least = Math.min(box.width, box.height);
    if (least < minPx - 0.5 && !isInText) faults.push(`${name} is only ${least.toFixed(1)} px`);
    const column = above(node, (each) => getComputedStyle(each).overflowX !== 'visible');
    const { left, right } = column?.getBoundingClientRect() ?? screen;
    const canScroll = column !== undefined && scrolls(column, 'overflowX') && column.clientHeight < 400;
    if (!canScroll && (box.left < left - 1 || box.right > right + 1))
      faults.push(`${name} is cut off: ${box.left.toFixed()} to ${box.right.toFixed()} px`);
    const isMoved = isLong || above(node, (each) => scrolls(each, 'overflowY')) !== undefined;
    if (!isMoved && (box.top < -1 || box.bottom > innerHeight + 1))
      faults.push(`${name} is off the screen: ${box.top.toFixed()} to ${box.bottom.toFixed()} px`);
    if (/button|summary/.test(node.localName) && node.scrollWidth > node.clientWidth + 1)
      faults.push(`the words of ${name} do not fit`);
    const part = seen(node);
    if (!isArea(part, 6)) continue;
    for (const [across, down] of [
      [0.5, 0.5],
      [0.25, 0.25],
      [0.75, 0.25],
      [0.25, 0.75],
      [0.75, 0.75],
    ] as const) {
      const x = part.left + across * (part.right - part.left);
      const y = part.top + down * (part.bottom - part.top);
      const hit = document.elementFromPoint(x, y);
      if (hit === null || hit.contains(node) || node.contains(hit) || isInText || isBelowMenu(node)) continue;
      faults.push(`${name} is covered by ${nameOf(hit)}`);
      break;
    }
  }

  // Words over words: elements that have text of their own.
  const words = shown('*').filter(
    (node) =>
      node.closest('svg, .maplibregl-canvas-container, option, .toast') === null &&
      !isBelowMenu(node) &&
      [...node.childNodes].some(
        ({ nodeType, data }: Node & { data?: string }) => nodeType === 3 && data?.trim(),
      ),
  );
  const boxes = words.map((node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    return common(range.getBoundingClientRect(), seen(node));
  });
  words.forEach((node, i) => {
    if (/hidden|clip/.test(getComputedStyle(node).overflowX) && node.scrollWidth > node.clientWidth + 1)
      faults.push(`the words of ${nameOf(node)} are cut off`);
    for (let other = i + 1; other < words.length; other++) {
      const isInside = node.contains(words[other]!) || words[other]!.contains(node);
      if (!isInside && isArea(common(boxes[i]!, boxes[other]!), 2))
        faults.push(`${nameOf(node)} and ${nameOf(words[other]!)} lie over one another`);
    }
  });

  // Names on the map: whole, and not below what is on it.
  const map = document.getElementById('map')?.getBoundingClientRect();
  const onMap = dialog === document.body && map !== undefined ? shown('.label') : [];
  for (const node of onMap) {
    const box = node.getBoundingClientRect();
    if (box.left < map!.left - 1 || box.right > map!.right + 1)
      faults.push(`the name ${nameOf(node)} is cut off by the edge of the map`);
    for (const button of document.querySelectorAll(
      '.map-buttons, .map-note, .scale, .credit, .inset:not([hidden]), .legend:not([hidden]), .layers summary',
    ))
      if (isArea(common(box, button.getBoundingClientRect()), 2))
        faults.push(`the name ${nameOf(node)} is below ${button.className}`);
  }

  for (const selector of inSight) {
    const [node] = shown(selector);
    if (node === undefined || !isArea(seen(node), 12)) faults.push(`${selector} is not in sight`);
  }
  return [...new Set(faults)];
}
