// The search over all kinds, with the keyboard alone: kinds by their names, and objects by names, labels and images.
import { type ComponentChildren, h } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { link } from '../route.ts';
import { Status } from '../ui/status.ts';
import { type Results, useSearch } from './use-search.ts';

export function SearchDialog({ close }: { readonly close: () => void }): ComponentChildren {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const found = useSearch(text);
  // Before the next key, which belongs to the search already.
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const pressed = (event: KeyboardEvent): void => {
    const [input, ...links] = dialog.current?.querySelectorAll<HTMLElement>('input, a') ?? [];
    const position = links.findIndex((each) => each === document.activeElement);
    if (event.key === 'ArrowDown') links[position + 1]?.focus();
    else if (event.key === 'ArrowUp') (links[position - 1] ?? input)?.focus();
    else if (event.key === 'Enter' && position < 0) links[0]?.click();
    else return;
    event.preventDefault();
  };
  const onClick = ({ defaultPrevented }: MouseEvent): void => {
    // A link has prevented that the browser follows it.
    if (defaultPrevented) close();
  };
  const groups = found.groups.map(({ title, options }) =>
    h('section', { key: title, 'aria-label': title }, [
      h('h3', { class: 'caption' }, title),
      options.map(({ key, label, detail, status, to }) =>
        h('a', { key, class: 'row item', ...link(to) }, [
          label,
          h('span', { class: 'muted fill' }, detail),
          status !== undefined && h(Status, { status }),
        ]),
      ),
    ]),
  );
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
    h('p', { class: 'muted small', role: 'status' }, statusOf(text, found)),
  ];
  const attributes = { ref: dialog, class: 'search-dialog', 'aria-label': 'Search', closedby: 'any' };
  const handlers = { onClose: close, onClick, onKeyDown: pressed };
  return h('dialog', { ...attributes, ...handlers }, h('div', { class: 'stack' }, content));
}

function statusOf(text: string, { groups, searched, isBusy, error }: Results): string {
  if (error) return `The search has failed: ${error.message}`;
  if (text.trim() === '') return 'Enter opens the first result, arrow keys select another, Escape closes.';
  if (isBusy) return 'Searching …';
  const kinds = `in ${searched} kinds that you may list`;
  return groups.length === 0 ? `Nothing found ${kinds}.` : `Searched ${kinds}.`;
}
