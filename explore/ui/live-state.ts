// The state of a live value, with a button that pauses it.
import type { Connection } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useNow } from './relative-time.ts';

export interface LiveStateProps {
  readonly connection: Connection | undefined;
  readonly error: Error | undefined;
  readonly isPaused: boolean;
  readonly pause: (isPaused: boolean) => void;
}

export function LiveState({ connection, error, isPaused, pause }: LiveStateProps): ComponentChildren {
  const now = useNow();
  return h('span', { class: 'live-state' }, [
    h('span', { class: 'status', 'data-tone': toneOf(connection, isPaused), role: 'status' }, [
      error && !isPaused ? 'Not live' : textOf(connection, isPaused, now),
    ]),
    h(
      'button',
      { type: 'button', class: 'chip', 'aria-pressed': isPaused, onClick: () => pause(!isPaused) },
      'Pause',
    ),
  ]);
}

function toneOf(connection: Connection | undefined, isPaused: boolean): string {
  if (isPaused || !connection) return 'idle';
  return connection.state === 'open' ? 'good' : 'warn';
}

function textOf(connection: Connection | undefined, isPaused: boolean, now: number): string {
  if (isPaused) return 'Paused';
  if (!connection) return 'Connecting';
  if (connection.state === 'open') return 'Live';
  return `Not connected, next attempt in ${Math.max(1, Math.ceil((connection.retryAt - now) / 1000))} s`;
}
