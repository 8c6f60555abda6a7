// One line: time, level, where it comes from, and its text. Its details are shown on demand.
import type { LogRecord } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { link, queryOf } from '../route.ts';
import { ContextLines } from './context-lines.ts';
import { fieldsIn, LineText } from './line-text.ts';
import { clockOf } from './log-query.ts';

/** Maximum number of characters of a line in the table, and in its details. */
const SHORT = 2_000;
const LONG = 50_000;

export interface LogLineProps {
  readonly record: LogRecord;
  /** Row number in the table, for screen readers. */
  readonly row: number;
  readonly isOpen: boolean;
  readonly hasDate: boolean;
  readonly toggle: () => void;
  /** The query of the view with only the lines of the pod. */
  readonly of: (record: LogRecord) => URLSearchParams;
}

export function LogLine({ record, row, isOpen, hasDate, toggle, of }: LogLineProps): ComponentChildren {
  const { time, log, pod, container, severity = 'none', highlights } = record;
  const cell = (name: string, props: object, children: ComponentChildren): ComponentChildren =>
    h('span', { role: 'cell', class: `log-${name}`, ...props }, children);
  const clock = h('time', { dateTime: time }, clockOf(time, { date: hasDate, millis: true }));
  const title = new Date(time).toLocaleString();
  const text = h(LineText, { text: log, highlights, limit: isOpen ? LONG : SHORT });
  return h(
    'div',
    { class: 'log-line', role: 'row', 'aria-rowindex': row, 'data-severity': severity, 'data-open': isOpen },
    [
      cell(
        'time',
        {},
        h('button', { class: 'quiet', tabIndex: -1, 'aria-expanded': isOpen, title, onClick: toggle }, clock),
      ),
      cell('level', {}, severity === 'none' ? h('span', { class: 'hidden-text' }, 'none') : severity),
      cell('source', { title: `${record.namespace}/${pod}/${container}` }, `${pod}/${container}`),
      cell('text', { dir: 'ltr' }, [
        h('span', { class: 'log-content' }, text),
        isOpen && h(LineDetails, { record, of }),
      ]),
    ],
  );
}

function LineDetails({ record, of }: Pick<LogLineProps, 'record' | 'of'>): ComponentChildren {
  const [hasContext, setContext] = useState(false);
  const [isCopied, setCopied] = useState(false);
  const { time, namespace, pod, container, log } = record;
  const details = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => details.current?.scrollIntoView({ block: 'nearest' }), [hasContext]);
  const fields = fieldsIn(log);
  const copy = (): void =>
    void navigator.clipboard.writeText(log).then(
      () => setCopied(true),
      () => undefined,
    );
  const object = { view: 'object', resource: 'pods', namespace, name: pod, query: queryOf({}) } as const;
  return h('div', { class: 'log-details', ref: details }, [
    h('p', { class: 'muted' }, [
      h('time', { dateTime: time }, time),
      ' ',
      h('a', link(object), `${namespace}/${pod}`),
      ` ${container}`,
    ]),
    fields.length > 0 &&
      h(
        'dl',
        { class: 'log-fields' },
        fields.map(([name, value]) => [
          h('dt', {}, h(LineText, { text: name, limit: 200 })),
          h('dd', {}, h(LineText, { text: value, limit: SHORT })),
        ]),
      ),
    h('div', { class: 'log-row' }, [
      h('button', { 'aria-expanded': hasContext, onClick: () => setContext(!hasContext) }, 'Lines around it'),
      h('a', { class: 'button', ...link({ view: 'logs', query: of(record) }) }, 'Only this pod'),
      h('button', { onClick: copy }, isCopied ? 'Copied' : 'Copy line'),
    ]),
    hasContext && h(ContextLines, { record }),
  ]);
}
