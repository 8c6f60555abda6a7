// The state of a live value, with a button that pauses it.
import type { Connection } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useNow } from './relative-time.ts';
import { Toggle } from './toggle.ts';

export interface LiveStateProps {
  readonly connection: Connection | undefined;
  readonly error: Error | undefined;
  readonly isPaused: boolean;
  readonly pause: (isPaused: boolean) => void;
}

export function LiveState({ connection, error, isPaused, pause }: LiveStateProps): ComponentChildren {
  const now = useNow();
  const [tone, text] = isPaused ? ['idle', 'Paused'] : stateOf(connection, now);
  return h('span', { class: 'row' }, [
    h('span', { class: 'status', 'data-tone': tone, role: 'status' }, error && !isPaused ? 'Not live' : text),
    h(Toggle, { isOn: isPaused, onClick: () => pause(!isPaused) }, 'Pause'),
  ]);
}

function stateOf(connection: Connection | undefined, now: number): readonly [tone: string, text: string] {
  if (!connection) return ['idle', 'Connecting'];
  if (connection.state === 'open') return ['good', 'Live'];
  const seconds = Math.max(1, Math.ceil((connection.retryAt - now) / 1000));
  return ['warn', `Not connected, next attempt in ${seconds} s`];
}
