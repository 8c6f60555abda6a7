// One line: time, level, where it comes from, and its text, which never becomes HTML. Its details are shown on demand.
import { clockOf, fieldsOfLine, type LogRecord, visibleText } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { absolute, logsURL, objectURL } from '../route.ts';
import { CopyButton } from '../ui/controls.ts';
import { failure, loading } from '../ui/notice.ts';
import { useLoaded } from '../ui/use-live.ts';

/** Maximum number of characters of a line, and of its details. */
const SHORT = 2_000;
const LONG = 50_000;
/** Time in s before and after a line in which the lines of its pod are shown. */
const AROUND_S = 900;
/** Number of lines of the context before and after a line. */
const CONTEXT = 20;

interface LogLineProps {
  readonly record: LogRecord;
}

export function LogLine({ record }: LogLineProps): ComponentChildren {
  const [isOpen, setOpen] = useState(false);
  const { time, log, pod, container, severity = 'none', highlights } = record;
  const source = `${pod}/${container}`;
  const toggle = { tabIndex: -1, 'aria-expanded': isOpen, onClick: () => setOpen(!isOpen) };
  return h('li', { class: 'log-line', 'data-severity': severity, 'data-open': isOpen }, [
    h('button', { class: 'quiet log-time', ...toggle }, h('time', { dateTime: time }, clockOf(time))),
    h('span', { class: 'log-level ellipsis' }, severity !== 'none' && severity),
    h('span', { class: 'log-source muted ellipsis', title: `${record.namespace}/${source}` }, source),
    h('div', { class: 'log-text', dir: 'ltr' }, [
      h('p', { class: 'log-content ellipsis' }, lineText(log, isOpen ? LONG : SHORT, highlights)),
      isOpen && h(LineDetails, { record }),
    ]),
  ]);
}

function LineDetails({ record }: LogLineProps): ComponentChildren {
  const [hasContext, setContext] = useState(false);
  const { time, namespace, pod, container, log } = record;
  const href = objectURL('pods', { namespace, name: pod });
  const at = Math.floor(Date.parse(time) / 1000);
  const range = absolute({ start_time: at - AROUND_S, end_time: at + AROUND_S });
  const ofPod = logsURL({ namespaces: namespace, pods: pod, ...range });
  const fields = fieldsOfLine(log).map(([name, value]) => [
    h('dt', {}, lineText(name, 200)),
    h('dd', {}, lineText(value, SHORT)),
  ]);
  return h('div', { class: 'log-details stack' }, [
    h('p', { class: 'muted' }, [`${time} ${container} in `, h('a', { href }, `${namespace}/${pod}`)]),
    h('dl', {}, fields),
    h('div', { class: 'row' }, [
      h('button', { 'aria-expanded': hasContext, onClick: () => setContext(!hasContext) }, 'Lines around it'),
      h('a', { class: 'button', href: ofPod }, 'Only this pod'),
      h(CopyButton, { label: 'Copy line', text: log }),
    ]),
    hasContext && h(ContextLines, { record }),
  ]);
}

/** The lines of the container before and after a line. */
function ContextLines({ record: { id } }: LogLineProps): ComponentChildren {
  const { client } = useExplore();
  const query = { before: CONTEXT, after: CONTEXT, severity: true };
  const load = (signal: AbortSignal) => client.logs.context(id, query, { signal });
  const { value: page, error, retry } = useLoaded(load, [id]);
  const current = useRef<HTMLLIElement>(null);
  useLayoutEffect(() => current.current?.scrollIntoView({ block: 'center' }), [page]);
  if (error) return failure(error, retry);
  if (!page) return loading('Loading …');
  const line = ({ id: each, time, log, severity }: LogRecord): ComponentChildren => {
    const mark = each === id ? { 'aria-current': 'true' as const, ref: current } : {};
    return h('li', { 'data-severity': severity, ...mark }, [
      h('time', { dateTime: time, class: 'muted' }, clockOf(time)),
      ' ',
      lineText(log, SHORT),
    ]);
  };
  return h('ol', { class: 'log-context', 'aria-label': 'Lines around it' }, page.records.map(line));
}

/** Maximum number of marked matches of a line: each is an element, and many lines are visible. */
const MAX_MARKS = 200;

/** The text of a line as nodes, in which matches are marked. `limit`: maximum number of characters. */
export function lineText(
  text: string,
  limit: number,
  highlights: LogRecord['highlights'] = [],
): ComponentChildren[] {
  const shown = text.slice(0, limit);
  const marked = highlights.slice(0, MAX_MARKS).filter(([begin]) => begin < limit);
  let next = 0;
  const nodes: ComponentChildren[] = marked.flatMap(([begin, end]) => {
    const before = visibleText(shown.slice(next, begin));
    next = end;
    return [before, h('mark', {}, visibleText(shown.slice(begin, end)))];
  });
  nodes.push(visibleText(shown.slice(next)));
  if (text.length > limit) nodes.push(`… ${text.length - limit} more characters`);
  return nodes;
}
