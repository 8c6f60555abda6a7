// Status words and times as short texts, and short tables of them.
import { spanOf, toneOfStatus } from 'ks-apiserver-client';
import { type ComponentChildren, type HTMLAttributes, h } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { serverClock } from '../page.ts';

export type Tone = 'good' | 'warn' | 'bad' | 'idle' | 'info';

/** A text with the colour of its meaning. */
export function toned(tone: Tone, content: ComponentChildren, more: HTMLAttributes = {}): ComponentChildren {
  return h('span', { class: 'status', 'data-tone': tone, ...more }, content);
}

/** The status word of an object; empty for none. */
export function statusWord(status: string): ComponentChildren {
  return toned(toneOfStatus(status), status || '–');
}

/** The current time, which advances every `stepMs` while the component is shown. */
export function useNow(stepMs = 5_000): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), stepMs);
    return () => clearInterval(timer);
  }, [stepMs]);
  return now;
}

/** A time as the span since then, with the exact local time in its title. `time`: RFC 3339, as in objects. */
export function RelativeTime({ time }: { readonly time: string | undefined }): ComponentChildren {
  useNow();
  const date = new Date(time ?? '');
  if (Number.isNaN(date.getTime())) return h('span', { class: 'muted' }, '–');
  const span = spanOf(serverClock.now() - date.getTime());
  return h('time', { dateTime: date.toISOString(), title: exactTime(date) }, span);
}

/**
 * The local time in the language of the user. Arabic has marks for the direction of its dates, which the page would show by
 * their names.
 */
export function exactTime(date: Date, language?: string): string {
  return date.toLocaleString(language).replaceAll(/\p{Bidi_Control}/gu, '');
}

/** A short table, which scrolls sideways in its box. `label`: accessible name. `rows`: the cells of each row. */
export function textTable(
  label: string,
  names: readonly string[],
  rows: readonly (readonly ComponentChildren[])[],
): ComponentChildren {
  const heads = names.map((name) => h('th', { scope: 'col' }, name));
  const body = rows.map((cells) => {
    const row = cells.map((cell, i) => h('td', { 'data-label': names[i] }, cell));
    return h('tr', {}, row);
  });
  // Focusable, because it scrolls.
  return h('div', { class: 'small scroll', tabIndex: 0, role: 'region', 'aria-label': label }, [
    h('table', {}, [h('thead', {}, h('tr', {}, heads)), h('tbody', {}, body)]),
  ]);
}
