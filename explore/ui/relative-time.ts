// A time as the span since then, such as `5m`, with the exact local time in its title.
import { type ComponentChildren, h } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const UNITS: readonly (readonly [seconds: number, unit: string])[] = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'm'],
];

/** `90m` is shown as `1h`, as kubectl does from three hours on. */
export function spanOf(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  for (const [size, unit] of UNITS) if (seconds >= size) return `${Math.floor(seconds / size)}${unit}`;
  return `${seconds}s`;
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

/** `time`: RFC 3339, as in objects. */
export function RelativeTime({ time }: { readonly time: string | undefined }): ComponentChildren {
  const now = useNow();
  const date = new Date(time ?? '');
  if (Number.isNaN(date.getTime())) return h('span', { class: 'muted' }, '–');
  const span = spanOf(now - date.getTime());
  return h('time', { dateTime: date.toISOString(), title: date.toLocaleString() }, span);
}
