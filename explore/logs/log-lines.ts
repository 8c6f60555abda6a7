// The lines, the newest one at the bottom. All of them are in the document, so that the browser can search in them, but it
// renders only the blocks near the visible part (`content-visibility`). The box scrolls from its bottom (`column-reverse`),
// so that neither older nor new lines move it.
import { LINE_BLOCK, type LogRecord } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { notice } from '../ui/notice.ts';
import { LogLine } from './log-line.ts';
import type { Logs } from './use-logs.ts';

export interface LogLinesProps {
  readonly logs: Logs;
  /** Changes with the query: the newest line is shown again. */
  readonly page: string;
  /** Whether new lines appear at the bottom. */
  readonly isFollowing: boolean;
  /** Called when the user scrolls away from the newest line. */
  readonly leave: () => void;
  /** Shows the lines before the first one, in place of the others. */
  readonly showEarlier: () => void;
  /** Text in place of the lines. */
  readonly none: string;
}

/** Distance in px from the top at which older lines are loaded. */
const NEAR_TOP = 200;
const AT_BOTTOM = 24;

export function LogLines(props: LogLinesProps): ComponentChildren {
  const { logs, page, isFollowing, leave, showEarlier, none } = props;
  const { route } = useExplore();
  const { lines, isLoading, older, isCut } = logs;
  const box = useRef<HTMLDivElement>(null);
  const showNewest = (): void => box.current?.scrollTo(0, 0);
  useLayoutEffect(showNewest, [page]);
  useLayoutEffect(() => {
    if (isFollowing) showNewest();
  }, [isFollowing]);
  const onScroll = ({ currentTarget }: Event): void => {
    const { scrollTop, scrollHeight, clientHeight } = currentTarget as HTMLElement;
    if (scrollTop < -AT_BOTTOM) leave();
    if (scrollHeight + scrollTop - clientHeight < NEAR_TOP) older?.();
  };
  const blocks = Array.from({ length: Math.ceil(lines.length / LINE_BLOCK) }, (_, index) => {
    const block = lines.slice(index * LINE_BLOCK, (index + 1) * LINE_BLOCK);
    return h(LineBlock, { key: block[0]?.id, lines: block });
  });
  const cutText = `These are the newest ${lines.length.toLocaleString()} lines: the page shows no more at once.`;
  const olderText = isLoading ? 'Loading …' : 'Load older lines';
  const content = [
    older && h('button', { class: 'quiet older', disabled: isLoading, onClick: older }, olderText),
    isCut && notice('info', cutText, ['Show the lines before them', showEarlier]),
    lines.length === 0 && !logs.error && h('p', { class: 'muted older' }, isLoading ? 'Searching …' : none),
    blocks,
  ];
  const region = { tabIndex: 0, role: 'region', 'aria-label': 'Log lines', 'aria-busy': isLoading } as const;
  const handlers = { ref: box, onScroll, onKeyDown: moveFocus };
  return h(
    'div',
    { class: 'log-lines box scroll', 'data-wrap': route.query.has('wrap'), ...region, ...handlers },
    [h('div', {}, content)],
  );
}

function LineBlock({ lines }: { readonly lines: readonly LogRecord[] }): ComponentChildren {
  // A live tail changes the last of many blocks.
  return useMemo(() => {
    const items = lines.map((record) => h(LogLine, { key: record.id, record }));
    return h('ol', {}, items);
  }, [lines[0], lines.length]);
}

/** The arrow keys move between the buttons of the lines; the box itself scrolls with the other keys. */
function moveFocus(event: KeyboardEvent): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  const box = event.currentTarget;
  if (step === 0 || !(box instanceof HTMLElement)) return;
  const buttons = [...box.querySelectorAll<HTMLElement>('.log-time')];
  const focused = buttons.findIndex((button) => button === event.target);
  if (focused === -1 && event.target !== box) return;
  const next = focused === -1 ? buttons.at(-1) : buttons[focused + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}
