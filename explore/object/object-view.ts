// The view of object.
import { type ComponentChildren, h } from 'preact';
import type { ObjectRoute } from '../route.ts';

export function ObjectView({ route }: { readonly route: ObjectRoute }): ComponentChildren {
  return h('h1', {}, route.view);
}
