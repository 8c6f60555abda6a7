// A filter by names, separated by commas. It offers the names of the cluster; a text that is not one of them selects the
// names that contain it.
import { type ComponentChildren, h } from 'preact';
import { useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import type { Changes } from '../route.ts';
import { TextField } from '../ui/text-field.ts';
import { namesIn } from './log-query.ts';

export interface NameFilterProps {
  readonly label: string;
  readonly query: URLSearchParams;
  /** Parameters of exact names and of parts of names. */
  readonly exact: string;
  readonly part: string;
  /** The kinds whose names are offered. */
  readonly kinds: readonly string[];
  readonly change: (changes: Changes) => void;
}

const OFFERED = 300;

export function NameFilter({ label, query, exact, part, kinds, change }: NameFilterProps): ComponentChildren {
  const { client } = useExplore();
  const [offered, setOffered] = useState<readonly string[]>([]);
  const names = namesIn(query, exact);
  const chosen = [...names, ...namesIn(query, part)];
  const offer = async (): Promise<void> => {
    const namespaces = exact === 'namespaces' ? [] : namesIn(query, 'namespaces');
    const sent = { namespaces, limit: OFFERED, sortBy: 'name', ascending: true };
    // Those that the user may not list can be typed.
    const pages = await Promise.allSettled(kinds.map((kind) => client.lists.page(kind, sent)));
    const items = pages.flatMap((page) => (page.status === 'fulfilled' ? page.value.items : []));
    setOffered([...new Set(items.map(({ metadata }) => metadata.name))]);
  };
  const apply = (text: string): void => {
    const known = new Set([...names, ...offered]);
    const typed = text.split(',').map((name) => name.trim());
    change({
      // The namespace of the frame is one of the names.
      ...(exact === 'namespaces' && { namespace: undefined }),
      [exact]: typed.filter((name) => known.has(name)).join(),
      [part]: typed.filter((name) => name !== '' && !known.has(name)).join(),
    });
  };
  return h(TextField, {
    ...{ label, type: 'search', placeholder: 'All', maxLength: 1000, text: chosen.join(', '), apply },
    onFocus: () => void offer(),
    // The browser compares the whole text.
    offered: offered.filter((name) => !chosen.includes(name)).map((name) => [...chosen, name].join(', ')),
  });
}
