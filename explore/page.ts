// The page around the content: what the server has written to it about its configuration (server/explore/explore-page.ts),
// and its element for the content.
import { ServerClock, visibleText } from 'ks-apiserver-client';
import { type ComponentChildren, options, render } from 'preact';

/** Read at the start, and when the tokens change. */
export const serverClock = new ServerClock();

/** The option `platform.name`. */
export function platformName(): string {
  return contentOf('platform') ?? 'platform';
}

/** Whether users can sign in at the server. */
export function hasSignIn(): boolean {
  return contentOf('sign-in') !== 'none';
}

function contentOf(name: string): string | undefined {
  return document.querySelector<HTMLMetaElement>(`meta[name=${name}]`)?.content;
}

/**
 * Shows the content. All its texts, and the titles of its elements, have the names of characters that would change or hide
 * other text: tenants choose the values of objects, and a log store sends any names.
 */
export function renderPage(content: ComponentChildren): void {
  options.vnode = (vnode) => {
    const { props }: { readonly props: unknown } = vnode;
    if (typeof props === 'string') Object.assign(vnode, { props: visibleLines(props) });
    else if (hasTitle(props)) props.title = visibleLines(props.title);
  };
  const page = document.querySelector('#page');
  if (page) render(content, page);
}

function hasTitle(props: unknown): props is { title: string } {
  return typeof props === 'object' && props !== null && 'title' in props && typeof props.title === 'string';
}

/** YAML, annotations and messages have several lines. */
function visibleLines(text: string): string {
  return text.split('\n').map(visibleText).join('\n');
}
