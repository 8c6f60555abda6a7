// YAML or JSON with line numbers and colours. All content is text: nothing of it can become markup.
import { type ComponentChildren, h } from 'preact';

/** Longer texts have no colours, because each value is an element. */
const MAX_LINES = 5_000;

const LINE = /^(\s*(?:- )*)("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'#|>{[-][^:\n]*):(?=\s|$)(.*)$/;
const LITERAL = /^\s*(?:-?\d[\d.eE+-]*|true|false|null|~|\{\}|\[\]),?$/;
const BLOCK = /[|>][+-]?\d*$/;

export function YamlText({
  text,
  label,
}: {
  readonly text: string;
  readonly label: string;
}): ComponentChildren {
  const lines = text.replace(/\n$/, '').split('\n');
  const isLong = lines.length > MAX_LINES;
  // Focusable, because it scrolls.
  return h(
    'pre',
    { class: 'yaml', tabIndex: 0, 'aria-label': label, role: 'region' },
    isLong ? text : coloured(lines).map((parts, i) => h('span', { key: i, class: 'line' }, [parts, '\n'])),
  );
}

function coloured(lines: readonly string[]): ComponentChildren[] {
  // The indent of the key of a text over several lines, which contains no keys.
  let block = Number.POSITIVE_INFINITY;
  return lines.map((line) => {
    const indent = line.search(/\S/);
    if (indent < 0 || indent > block) return h('span', { class: 'text' }, line);
    block = Number.POSITIVE_INFINITY;
    const [, start = '', key = '', value = ''] = LINE.exec(line) ?? [];
    if (key === '') return valueOf(line);
    if (BLOCK.test(value)) block = start.length;
    return [start, h('span', { class: 'key' }, key), ':', valueOf(value)];
  });
}

function valueOf(value: string): ComponentChildren {
  return h('span', { class: LITERAL.test(value) ? 'literal' : 'text' }, value);
}
