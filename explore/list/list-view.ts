// The view of lists.
import { type ComponentChildren, h } from 'preact';
import type { ListRoute } from '../route.ts';

export function ListView({ route }: { readonly route: ListRoute }): ComponentChildren {
  return h('h1', {}, route.view);
}
