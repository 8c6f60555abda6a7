// The HTML of the page for browsers, and its security headers. Its modules fill it; until then, and in a browser that cannot
// load one of them, it has only a hint.
import { hash } from 'node:crypto';
import { type StaticDocument, staticBytes } from '../http/static-document.ts';
import { BASE_STYLE, type BrowserFiles, PACKAGES } from './browser-files.ts';

export interface ExplorePage {
  readonly document: StaticDocument;
  readonly headers: Readonly<Record<string, string>>;
}

/** What the page must know of the configuration before its first request. */
export interface PageMetadata {
  /** The option `platform.name`. */
  readonly platform: string;
  /** Whether users can sign in at this server: the option `oauth.enabled`. */
  readonly signIn: boolean;
}

export interface PageContent extends PageMetadata {
  /** The module that starts the page, such as `explore/main.js`. */
  readonly main: string;
  /** Path of the folder of the files, with a slash at the end. */
  readonly base: string;
  /** Whether pages of the same origin may embed the page. */
  readonly embeddable: boolean;
}

export function explorePage(
  files: BrowserFiles,
  { platform, signIn, main, base, embeddable }: PageContent,
): ExplorePage {
  const paths = [...files.documents.keys()];
  const imports = JSON.stringify({
    imports: {
      'ks-apiserver-client': `${base}client/index.js`,
      ...Object.fromEntries(PACKAGES.map((name) => [name, `${base}packages/${name}.js`])),
    },
  });
  // The styles of the views can change the one of all pages.
  const styles = [BASE_STYLE, ...paths.filter((path) => path.endsWith('.css') && path !== BASE_STYLE)];
  const modules = embeddable ? [] : paths.filter((path) => path.endsWith('.js'));
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="platform" content="${platform}">
<meta name="sign-in" content="${signIn ? 'oauth' : 'none'}">
<title>Explore</title>
<link rel="icon" href="${base}explore/icon.svg">
${styles.map((path) => `<link rel="stylesheet" href="${base}${path}">`).join('\n')}
<script type="importmap">${imports}</script>
${modules.map((path) => `<link rel="modulepreload" href="${base}${path}">`).join('\n')}
<script type="module" src="${base}${main}"></script>
</head>
<body>
<noscript>This page needs JavaScript.</noscript>
<div id="page"></div>
<p class="gate late">The page has not started yet. If this does not change, reload it.</p>
</body>
</html>
`;
  return {
    document: staticBytes(Buffer.from(html)),
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': policy(imports, embeddable),
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Resource-Policy': 'same-origin',
      'X-Frame-Options': embeddable ? 'SAMEORIGIN' : 'DENY',
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-cache',
    },
  };
}

/**
 * Nothing from other hosts, and no inline script but the import map. The frame renews tokens (client/sign-in.ts). There is no
 * `form-action`, because the sign-out is a form that identity providers redirect further, to addresses that this page does not know.
 */
function policy(imports: string, embeddable: boolean): string {
  return [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash('sha256', imports, 'base64')}'`,
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "frame-src 'self'",
    "base-uri 'none'",
    `frame-ancestors ${embeddable ? "'self'" : "'none'"}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}
