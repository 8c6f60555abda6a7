// The overview: what the cluster runs, and what changed in the last minutes.
import { type ComponentChildren, h } from 'preact';
import type { OverviewRoute } from '../route.ts';

export function OverviewView({ route }: { readonly route: OverviewRoute }): ComponentChildren {
  return h('h1', {}, route.view);
}
