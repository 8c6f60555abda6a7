// The view of logs.
import { type ComponentChildren, h } from 'preact';
import type { LogsRoute } from '../route.ts';

export function LogsView({ route }: { readonly route: LogsRoute }): ComponentChildren {
  return h('h1', {}, route.view);
}
