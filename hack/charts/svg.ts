// Writes SVG pictures as text. Every string is escaped; only `element` makes markup. A picture has its own background and
// colours for light and dark schemes, because the page around it may have the other scheme than the browser. Libraries for
// charts have no second scheme in one file, or need a canvas.

/** Text that is markup already. */
export interface Markup {
  readonly markup: string;
}

type Attributes = Readonly<Record<string, string | number>>;

export function element(
  name: string,
  attributes: Attributes,
  ...children: readonly (Markup | string)[]
): Markup {
  const given = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(valueOf(value))}"`);
  const inside = children.map((child) => (typeof child === 'string' ? escaped(child) : child.markup));
  const tag = `${name}${given.join('')}`;
  return { markup: inside.length === 0 ? `<${tag}/>` : `<${tag}>${inside.join('')}</${name}>` };
}

function valueOf(value: string | number): string {
  return typeof value === 'string' ? value : String(Math.round(value * 10) / 10);
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Characters that XML 1.0 forbids become U+FFFD. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u{20}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '\u{fffd}')
    .replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? '');
}

export const WIDTH = 800;
export const MARGIN = 20;
export const FONT_SIZE = 13;
export const LINE = 16;
const FONTS = 'system-ui, -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif';

/** Fill of what is better or normal; stroke of the hatching of what is worse. Both have a contrast of at least 4.5 : 1. */
const SCHEMES = {
  light: {
    ground: '#fff',
    ink: '#1f2328',
    soft: '#59636e',
    grid: '#d9dee3',
    good: '#0969da',
    bad: '#bc4c00',
  },
  dark: {
    ground: '#0d1117',
    ink: '#f0f6fc',
    soft: '#9198a1',
    grid: '#30363d',
    good: '#4493f8',
    bad: '#f0883e',
  },
} as const;

function rules({ ground, ink, soft, grid, good, bad }: Record<keyof typeof SCHEMES.light, string>): string {
  return [
    `.ground{fill:${ground};stroke:${grid}}.halo,.heading,.figure{stroke:${ground}}`,
    `text{fill:${ink}}.soft{fill:${soft}}`,
    `.grid{stroke:${grid}}.axis{stroke:${soft}}.mark{stroke:${ink};fill:${ink}}`,
    `.good{fill:${good}}.bad{fill:url(#hatching);stroke:${bad}}.hatch{stroke:${bad}}`,
    `.line{stroke:${good}}.other{stroke:${bad}}.shade{fill:${grid};opacity:.5}`,
  ].join('');
}

const STYLE = `text{font:${FONT_SIZE}px ${FONTS}}.title{font-size:18px;font-weight:600}.heading{font-weight:600}.heading,.figure{paint-order:stroke;stroke-width:4}.halo{stroke-width:4}.small{font-size:11px}.end{text-anchor:end}.middle{text-anchor:middle}.mark{stroke-width:2}.hatch{stroke-width:2.5}.line,.other{fill:none;stroke-width:1.5}.other{stroke-dasharray:5 3}${rules(SCHEMES.light)}@media (prefers-color-scheme:dark){${rules(SCHEMES.dark)}}`;

const HATCHING = element(
  'pattern',
  { id: 'hatching', width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
  element('path', { d: 'M0 0V6', class: 'hatch' }),
);

export interface Picture {
  readonly title: string;
  /** What a reader sees, in words, for screen readers. */
  readonly description: string;
  /** Explanation below the title. */
  readonly legend: string;
}

/** `draw`: the content below the given height, and its end. */
export function picture(
  { title, description, legend }: Picture,
  draw: (top: number) => { readonly content: readonly Markup[]; readonly bottom: number },
): string {
  const lines = wrapped(legend, WIDTH - 2 * MARGIN);
  const { content, bottom } = draw(MARGIN + 24 + lines.length * LINE);
  const height = bottom + MARGIN;
  const size = { width: WIDTH, height, viewBox: `0 0 ${WIDTH} ${Math.ceil(height)}` };
  const { markup } = element(
    'svg',
    { xmlns: 'http://www.w3.org/2000/svg', ...size, role: 'img', 'aria-labelledby': 'title description' },
    element('title', { id: 'title' }, title),
    element('desc', { id: 'description' }, description),
    // No CSS character is special in XML.
    element('style', {}, { markup: STYLE }),
    element('defs', {}, HATCHING),
    element('rect', { class: 'ground', x: 0.5, y: 0.5, width: WIDTH - 1, height: height - 1, rx: 6 }),
    text(MARGIN, MARGIN + 16, 'title', title),
    ...lines.map((line, i) => text(MARGIN, MARGIN + 24 + (i + 1) * LINE, 'soft', line)),
    ...content.flatMap((part) => ['\n', part]),
  );
  return `${markup}\n`;
}

export function text(x: number, y: number, classes: string, content: string): Markup {
  return element('text', { x, y, ...(classes !== '' && { class: classes }) }, content);
}

/** Splits a text into lines that fit in a width in any of the fonts. */
export function wrapped(content: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of content.split(' ')) {
    const extended = `${lines.at(-1)} ${word}`;
    if (lines.length === 0 || widthOf(extended) > width) lines.push(word);
    else lines[lines.length - 1] = extended;
  }
  return lines;
}

/** Estimate for the widest of the usual fonts: DejaVu Sans. */
function widthOf(content: string): number {
  return content.length * FONT_SIZE * 0.55;
}
