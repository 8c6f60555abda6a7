// The text of a line as nodes, in which matches are marked. A line never becomes HTML.
import { visibleText } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';

/** Maximum number of marked matches of a line: each is an element, and many lines are visible. */
const MAX_MARKS = 200;

export interface LineTextProps {
  readonly text: string;
  readonly highlights?: readonly (readonly [begin: number, end: number])[] | undefined;
  /** Maximum number of characters. */
  readonly limit: number;
}

export function LineText({ text, highlights = [], limit }: LineTextProps): ComponentChildren {
  const shown = text.slice(0, limit);
  const marked = highlights.slice(0, MAX_MARKS).filter(([begin]) => begin < limit);
  let next = 0;
  const nodes: ComponentChildren[] = marked.flatMap(([begin, end]) => {
    const before = visibleText(shown.slice(next, begin));
    next = end;
    return [before, h('mark', {}, visibleText(shown.slice(begin, end)))];
  });
  nodes.push(visibleText(shown.slice(next)));
  if (text.length > limit) nodes.push(`… ${text.length - limit} more characters`);
  return nodes;
}
