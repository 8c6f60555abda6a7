// YAML or JSON with line numbers and coloured keys. All content is text: nothing of it can become markup.
import { type ComponentChildren, h } from 'preact';

/** Longer texts have no colours, because each key is an element. */
const MAX_LINES = 5_000;
/** Indent, key and the rest of a line. */
const LINE = /^(\s*(?:- )*)("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'#|>{[-][^:\n]*)(:(?:\s.*)?)$/;

export interface YamlTextProps {
  readonly text: string;
  readonly label: string;
}

export function YamlText({ text, label }: YamlTextProps): ComponentChildren {
  const lines = text.replace(/\n$/, '').split('\n');
  const coloured = lines.map((line, i) => {
    const [, indent, key, rest] = LINE.exec(line) ?? [];
    const content = key === undefined ? line : [indent, h('span', { class: 'key' }, key), rest];
    return h('span', { key: i, class: 'line' }, [content, '\n']);
  });
  // Focusable, because it scrolls.
  return h(
    'pre',
    { class: 'yaml', tabIndex: 0, 'aria-label': label, role: 'region' },
    lines.length > MAX_LINES ? text : coloured,
  );
}
