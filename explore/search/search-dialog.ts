// The search over all kinds, with the keyboard alone: kinds by their names at once, and objects by names, labels and images
// when the server has responded.
import { type Client, kindsNamed, type SearchResult } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { COUNTED_KINDS, customResources, type Kinds, titleOf, useExplore } from '../context.ts';
import { listURL, objectURL } from '../route.ts';
import { type Live, useLoaded } from '../ui/use-live.ts';
import { statusWord } from '../ui/values.ts';

/** Pause of the typing before a request, in ms. */
const DEBOUNCE_MS = 150;
/** Maximum number of matches of a kind. */
const MATCHES = 5;
const KIND_MATCHES = 4;
/** The server searches the kinds that it follows. It starts to follow these. */
const KINDS = [...COUNTED_KINDS, 'cronjobs.batch', 'services', 'ingresses.networking.k8s.io', 'configmaps'];

export function SearchDialog({ close }: { readonly close: () => void }): ComponentChildren {
  const { kinds } = useExplore();
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const q = text.trim();
  const found = useSearch(q);
  const named = q === '' ? [] : kindsFound(q, kinds);
  const groups = q === '' ? [] : [...named, ...objectsIn(found.value, q, kinds)];
  // While the server searches, the objects are still those of an earlier text.
  const isFirstCurrent = found.isCurrent || named.length > 0;
  // Before the next key, which belongs to the search already.
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const onKeyDown = (event: KeyboardEvent): void => {
    const [input, ...links] = dialog.current?.querySelectorAll<HTMLElement>('input, a') ?? [];
    const position = links.findIndex((each) => each === document.activeElement);
    if (event.key === 'ArrowDown') links[position + 1]?.focus();
    else if (event.key === 'ArrowUp') (links[position - 1] ?? input)?.focus();
    else if (event.key === 'Enter' && position < 0 && isFirstCurrent) links[0]?.click();
    else return;
    event.preventDefault();
  };
  const onClick = ({ target, ctrlKey, metaKey }: MouseEvent): void => {
    // With one of these keys, a link opens another tab.
    if (target instanceof Element && target.closest('a') && !ctrlKey && !metaKey) close();
  };
  const input = h('input', {
    // In a search field, Escape would only remove the text.
    type: 'text',
    'aria-label': 'Search kinds and objects',
    autocomplete: 'off',
    spellcheck: false,
    placeholder: 'Search kinds, names, labels and images',
    value: text,
    onInput: ({ currentTarget }) => setText(currentTarget.value),
  });
  const content = [
    input,
    h('div', { class: 'results' }, groups),
    h('p', { class: 'muted small', role: 'status' }, summaryOf(q, groups.length, found)),
  ];
  const attributes = { ref: dialog, class: 'search-dialog', 'aria-label': 'Search', closedby: 'any' };
  const handlers = { onClose: close, onClick, onKeyDown };
  return h('dialog', { ...attributes, ...handlers }, h('div', { class: 'stack' }, content));
}

function summaryOf(
  q: string,
  groups: number,
  { value, isCurrent, error }: Live<SearchResult | undefined>,
): string {
  if (error) return `The search has failed: ${error.message}`;
  if (q === '') return 'Enter opens the first result, arrow keys select another, Escape closes.';
  if (!isCurrent) return 'Searching …';
  const kinds = `in ${value?.kinds.length ?? 0} kinds that you may list`;
  return groups === 0 ? `Nothing found ${kinds}.` : `Searched ${kinds}.`;
}

function useSearch(q: string): Live<SearchResult | undefined> {
  const { client, kinds } = useExplore();
  const ready = useMemo(() => followKinds(client, kinds), [client, kinds]);
  const search = async (signal: AbortSignal): Promise<SearchResult | undefined> => {
    await new Promise((resolve) => setTimeout(resolve, DEBOUNCE_MS));
    await ready;
    return q === '' || signal.aborted ? undefined : await client.search(q, { limit: MATCHES, signal });
  };
  return useLoaded(search, [ready, q]);
}

/** Each kind of custom resources alone, because the server may have no permission for some. */
async function followKinds(client: Client, kinds: Kinds): Promise<void> {
  const named = [KINDS, ...customResources(kinds).map((resource) => [resource])];
  await Promise.all(
    // The text does not matter.
    named.map((names) => client.search('explore', { kinds: names, limit: 1 }).catch(() => undefined)),
  );
}

function kindsFound(q: string, kinds: Kinds): ComponentChildren[] {
  const options = kindsNamed(kinds.values(), q)
    .slice(0, KIND_MATCHES)
    .map(({ resource, title, group }) => option(resource, listURL(resource), title, group));
  return options.length === 0 ? [] : [section('Lists', options)];
}

function objectsIn(result: SearchResult | undefined, q: string, kinds: Kinds): ComponentChildren[] {
  // Events repeat the names of all other objects.
  const isEvent = ({ kind }: { readonly kind: string }): number => Number(kind === 'Event');
  const groups = (result?.groups ?? []).toSorted((a, b) => isEvent(a) - isEvent(b));
  return groups.map(({ resource, totalItems, items }) => {
    const title = titleOf(resource, kinds);
    const options = items.map(({ metadata, status }) =>
      option(metadata.uid, objectURL(resource, metadata), metadata.name, metadata.namespace, status),
    );
    const all = `All ${totalItems.toLocaleString()} ${title} with “${q}”`;
    if (totalItems > items.length) options.push(option('all', listURL(resource, { q }), all));
    return section(title, options);
  });
}

function section(title: string, options: readonly ComponentChildren[]): ComponentChildren {
  return h('section', { key: title, 'aria-label': title }, [h('h3', { class: 'caption' }, title), options]);
}

function option(key: string, href: string, label: string, detail = '', status?: string): ComponentChildren {
  return h('a', { key, class: 'row item', href }, [
    label,
    h('span', { class: 'muted fill' }, detail),
    status !== undefined && statusWord(status),
  ]);
}
