// A short table with a header, which scrolls sideways in its box.
import { type ComponentChildren, h } from 'preact';

/** `label`: accessible name. `rows`: the cells of each row. */
export function textTable(
  label: string,
  names: readonly string[],
  rows: readonly (readonly ComponentChildren[])[],
): ComponentChildren {
  const heads = names.map((name) => h('th', { scope: 'col' }, name));
  const body = rows.map((cells) => {
    const row = cells.map((cell) => h('td', {}, cell));
    return h('tr', {}, row);
  });
  // Focusable, because it scrolls.
  return h('div', { class: 'small scroll', tabIndex: 0, role: 'region', 'aria-label': label }, [
    h('table', {}, [h('thead', {}, h('tr', {}, heads)), h('tbody', {}, body)]),
  ]);
}
