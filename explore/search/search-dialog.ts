// The search over all kinds, with the keyboard alone: kinds by their names, and objects by names, labels and images.
import { type ComponentChildren, h } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { link } from '../route.ts';
import { Status } from '../ui/status.ts';
import { type Results, useSearch } from './use-search.ts';

export function SearchDialog({ close }: { readonly close: () => void }): ComponentChildren {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  const found = useSearch(text);
  const { groups } = found;
  const count = groups.reduce((sum, { options }) => sum + options.length, 0);
  // A shorter result has no such option any more.
  const position = Math.min(active, count - 1);
  // Before the next key, which belongs to the search already.
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const selected = () => dialog.current?.querySelector<HTMLElement>('[aria-selected=true]');
  useEffect(() => selected()?.scrollIntoView({ block: 'nearest' }), [position, count]);
  const pressed = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter') selected()?.click();
    else if (step !== undefined && count > 0) setActive((position + step + count) % count);
    else return;
    event.preventDefault();
  };
  const clicked = (event: MouseEvent): void => {
    // The backdrop is a part of the dialog itself; a link has prevented that the browser follows it.
    if (event.target === dialog.current || event.defaultPrevented) close();
  };
  return h(
    'dialog',
    { ref: dialog, class: 'search-dialog', 'aria-label': 'Search', onClose: close, onClick: clicked },
    h('div', { class: 'stack' }, [
      h('input', {
        // In a search field, Escape would only remove the text.
        ...{ type: 'text', role: 'combobox', 'aria-label': 'Search kinds and objects' },
        ...{ 'aria-expanded': count > 0, 'aria-controls': 'results', 'aria-autocomplete': 'list' },
        ...(position >= 0 ? { 'aria-activedescendant': `result-${position}` } : {}),
        ...{ placeholder: 'Search kinds, names, labels and images', autocomplete: 'off', spellcheck: false },
        value: text,
        onInput: ({ currentTarget }) => {
          setText(currentTarget.value);
          setActive(0);
        },
        onKeyDown: pressed,
      }),
      h('div', { id: 'results', role: 'listbox', 'aria-label': 'Results' }, optionsOf(groups, position)),
      h('p', { class: 'muted small', role: 'status' }, statusOf(text, found)),
    ]),
  );
}

function optionsOf(groups: Results['groups'], position: number): ComponentChildren {
  let index = 0;
  return groups.map(({ title, options }) =>
    h('div', { key: title, role: 'group', 'aria-label': title }, [
      h('h3', { class: 'caption', 'aria-hidden': true }, title),
      options.map(({ key, label, detail, status, to }) => {
        const id = `result-${index}`;
        const isSelected = index++ === position;
        return h(
          'a',
          {
            key,
            id,
            class: 'row item',
            role: 'option',
            'aria-selected': isSelected,
            tabIndex: -1,
            ...link(to),
          },
          [
            h('span', {}, label),
            h('span', { class: 'muted fill' }, detail),
            status !== undefined && h(Status, { status }),
          ],
        );
      }),
    ]),
  );
}

function statusOf(text: string, { groups, searched, isBusy, error }: Results): string {
  if (error) return `The search has failed: ${error.message}`;
  if (text.trim() === '') return 'Type a name. Arrow keys select, Enter opens, Escape closes.';
  if (isBusy) return 'Searching …';
  const kinds = `in ${searched} kinds that you may list`;
  return groups.length === 0 ? `Nothing found ${kinds}.` : `Searched ${kinds}.`;
}
