// The lines as a table in which only the blocks near the visible part are rendered. Blocks can have any height, because
// lines wrap and open; the others keep the height that they had. The newest line is at the bottom.
import { Component, type ComponentChildren, createRef, h } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { LogLine, type LogLineProps } from './log-line.ts';
import type { Block } from './use-logs.ts';

export interface LogLinesProps {
  readonly blocks: readonly Block[];
  /** Changes with the query: the newest line is shown again. */
  readonly page: string;
  readonly isWrapped: boolean;
  readonly isBusy: boolean;
  readonly hasDate: boolean;
  /** Whether the table stays at its bottom. */
  readonly isFollowing: boolean;
  /** Called when the user scrolls to the top. */
  readonly older?: () => void;
  /** Called when the user scrolls away from the bottom. */
  readonly leave?: () => void;
  readonly of: LogLineProps['of'];
  readonly children?: ComponentChildren;
}

/** Distance in px from the visible part in which blocks are rendered. */
const MARGIN = 800;
/** Distance in px from the top at which older lines are loaded. */
const NEAR_TOP = 200;
const AT_BOTTOM = 24;
const ROW_HEIGHT = 24;

export function LogLines(props: LogLinesProps): ComponentChildren {
  const { blocks, page, isFollowing, isWrapped, isBusy, hasDate, older, leave, of, children } = props;
  const box = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [visible, setVisible] = useState<ReadonlySet<number>>(new Set());
  const [observer, setObserver] = useState<IntersectionObserver>();
  /** Distance of the scroll position from the bottom, which stays the same when older lines are inserted. */
  const fromBottom = useRef(0);
  useEffect(() => {
    const observed = new IntersectionObserver(
      (entries) =>
        setVisible((before) => {
          const after = new Set(before);
          for (const { target, isIntersecting } of entries) {
            const key = Number(target.getAttribute('data-block'));
            if (isIntersecting) after.add(key);
            else after.delete(key);
          }
          return after;
        }),
      { root: box.current, rootMargin: `${MARGIN}px 0px` },
    );
    setObserver(observed);
    return () => observed.disconnect();
  }, []);
  const toBottom = (): void => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
    fromBottom.current = box.current?.clientHeight ?? 0;
  };
  const isEmpty = blocks.length === 0;
  useLayoutEffect(toBottom, [page, isEmpty]);
  useLayoutEffect(() => {
    if (isFollowing) toBottom();
  }, [blocks, isFollowing, visible]);
  const first = blocks[0]?.key;
  useLayoutEffect(() => {
    if (box.current && !isFollowing) box.current.scrollTop = box.current.scrollHeight - fromBottom.current;
  }, [first]);
  const scrolled = (): void => {
    if (!box.current) return;
    const { scrollTop, scrollHeight, clientHeight } = box.current;
    const isAway = scrollHeight - scrollTop - clientHeight > AT_BOTTOM;
    const isUp = scrollHeight - scrollTop > fromBottom.current + 1;
    fromBottom.current = scrollHeight - scrollTop;
    if (isFollowing && isAway && isUp) leave?.();
    if (scrollTop < NEAR_TOP && isUp) older?.();
  };
  const toggle = (id: string): void => {
    const next = new Set(open);
    if (!next.delete(id)) next.add(id);
    setOpen(next);
  };
  let row = 1;
  const rendered = blocks.map((block) => {
    const isVisible = visible.has(block.key) || !observer;
    const before = row;
    row += block.lines.length;
    const shared = { observer, open, isWrapped, hasDate, toggle, of };
    return h(LineBlock, { key: block.key, block, before, isVisible, ...shared });
  });
  return h(
    'div',
    {
      ...{ class: 'log-lines', ref: box, tabIndex: 0, role: 'region', 'aria-label': 'Log lines' },
      ...{ 'aria-busy': isBusy, 'data-wrap': isWrapped, onScroll: scrolled, onKeyDown: moveFocus },
    },
    [
      children,
      h('div', { role: 'table', 'aria-label': 'Lines, the oldest first', 'aria-rowcount': row }, [
        h('div', { role: 'rowgroup', class: 'hidden-text' }, HEAD),
        rendered,
      ]),
    ],
  );
}

const HEAD = h(
  'div',
  { role: 'row', 'aria-rowindex': 1 },
  ['Time', 'Level', 'Source', 'Text'].map((name) => h('span', { role: 'columnheader' }, name)),
);

/** The arrow keys move between lines; the box itself scrolls with the other keys. */
function moveFocus(event: KeyboardEvent): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  const box = event.currentTarget;
  const isLine =
    event.target === box || (event.target instanceof Element && event.target.closest('.log-time'));
  if (step === 0 || !isLine || !(box instanceof HTMLElement)) return;
  const buttons = [...box.querySelectorAll<HTMLElement>('.log-time button')];
  const { top, bottom } = box.getBoundingClientRect();
  const isSeen = (each: HTMLElement): boolean => {
    const place = each.getBoundingClientRect();
    return place.top >= top && place.bottom <= bottom;
  };
  const at = buttons.findIndex((each) => each === document.activeElement);
  const next = at === -1 ? (step > 0 ? buttons.find(isSeen) : buttons.findLast(isSeen)) : buttons[at + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

interface LineBlockProps extends Pick<LogLinesProps, 'isWrapped' | 'hasDate' | 'of'> {
  readonly block: Block;
  /** Row number of the row before the block. */
  readonly before: number;
  readonly isVisible: boolean;
  readonly observer: IntersectionObserver | undefined;
  readonly open: ReadonlySet<string>;
  readonly toggle: (id: string) => void;
}

/** Rendered only after a change of what it shows: a live tail changes the last of many blocks. */
class LineBlock extends Component<LineBlockProps> {
  readonly #element = createRef<HTMLDivElement>();
  #height: number | undefined;

  override shouldComponentUpdate(next: LineBlockProps): boolean {
    const { block, isVisible, observer } = this.props;
    if (next.block !== block || next.isVisible !== isVisible || next.observer !== observer) return true;
    const names = ['before', 'open', 'isWrapped', 'hasDate'] as const;
    return isVisible && names.some((name) => next[name] !== this.props[name]);
  }

  override componentDidMount(): void {
    if (this.#element.current) this.props.observer?.observe(this.#element.current);
  }

  override componentDidUpdate({ observer, isVisible }: LineBlockProps): void {
    const element = this.#element.current;
    if (!element) return;
    if (observer !== this.props.observer) this.props.observer?.observe(element);
    if (!this.props.isVisible) return;
    const [known = 0, height] = [this.#height, element.offsetHeight];
    this.#height = height;
    const box = element.closest('.log-lines');
    if (isVisible || !box) return;
    // A block above the visible part must not move it.
    const isAbove = element.getBoundingClientRect().top < box.getBoundingClientRect().top;
    if (isAbove) box.scrollTop += height - known;
  }

  override componentWillUnmount(): void {
    if (this.#element.current) this.props.observer?.unobserve(this.#element.current);
  }

  override render(props: LineBlockProps): ComponentChildren {
    const { block, before, isVisible, open, hasDate, toggle, of } = props;
    const attributes = { ref: this.#element, role: 'rowgroup', 'data-block': block.key };
    this.#height ??= block.lines.length * ROW_HEIGHT;
    if (!isVisible) return h('div', { ...attributes, style: { height: `${this.#height}px` } });
    return h(
      'div',
      attributes,
      block.lines.map((record, index) =>
        h(LogLine, {
          ...{ key: `${record.id} ${index}`, record, row: before + index + 1, hasDate, of },
          isOpen: open.has(record.id),
          toggle: () => toggle(record.id),
        }),
      ),
    );
  }
}
