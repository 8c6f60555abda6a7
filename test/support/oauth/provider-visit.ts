// Signs in at the pages of an OpenID provider, as a browser would.
import { Agent, fetch } from 'undici';

/** Follows redirects and fills forms until the provider redirects to another origin. `fill`: the fields for a page with a form. `cookies`: of the browser. */
export async function visitProvider(
  start: URL,
  ca: string,
  fill: (page: string) => Readonly<Record<string, string>>,
  cookies = new Map<string, string>(),
): Promise<URL> {
  const dispatcher = new Agent({ connect: { ca } });
  let url = start;
  let form: URLSearchParams | undefined;
  for (let step = 0; step < 12; step++) {
    const response = await fetch(url, {
      dispatcher,
      method: form ? 'POST' : 'GET',
      ...(form ? { body: form } : {}),
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      redirect: 'manual',
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';');
      const at = pair.indexOf('=');
      cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
    const page = await response.text();
    const location = response.headers.get('location');
    if (location !== null) {
      url = new URL(location, url);
      form = undefined;
      if (url.origin !== start.origin) return url;
      continue;
    }
    const action = /action="([^"]+)"/.exec(page)?.[1];
    if (action === undefined) throw new Error(`no form: ${response.status} ${page}`);
    url = new URL(action.replaceAll('&amp;', '&'), url);
    form = new URLSearchParams(fill(page));
  }
  throw new Error('the sign-in does not end');
}
