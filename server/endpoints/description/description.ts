// Serves the OpenAPI 3.1 documents of the platform APIs, and the API page, which displays them. endpoints/openapi serves
// the OpenAPI documents that kube-apiserver aggregates.

import { readFile } from 'node:fs/promises';
import { customResourcesDescription } from '../../../apis/description/custom-resources-document.ts';
import { type PlatformOptions, platformDescription } from '../../../apis/description/platform-apis.ts';
import {
  requireRead,
  type StaticDocument,
  staticBytes,
  staticDocument,
  writeDocument,
} from '../../http/static-document.ts';
import type { Handler } from '../../request/request-context.ts';

const PLATFORM_DOCUMENT = '/openapi/platform.json';
const CUSTOM_RESOURCES_DOCUMENT = '/openapi/custom-resources.json';

/** Returns the handlers of the documents, by exact path. */
export function descriptionHandlers(described: PlatformOptions): ReadonlyMap<string, Handler> {
  return new Map([
    [PLATFORM_DOCUMENT, documentHandler(platformDescription(described))],
    [CUSTOM_RESOURCES_DOCUMENT, documentHandler(customResourcesDescription(described))],
    ...pageHandlers(),
  ]);
}

function documentHandler(value: object): Handler {
  const document = staticDocument(value);
  return (context) => {
    requireRead(context);
    return writeDocument(context, document, {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-cache',
      'X-Content-Type-Options': 'nosniff',
    });
  };
}

// The API page: swagger-ui-dist and the files in page/. It loads nothing from other hosts. Its Content Security Policy
// does not allow inline scripts, inline styles or eval.
const PAGE_PATH = '/openapi/page';

const HTML = 'text/html; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';

/** Media type and file for each path. A file is in this folder or in the package swagger-ui-dist. */
const FILES: Readonly<Record<string, readonly [type: string, file: string]>> = {
  '': [HTML, './page/page.html'],
  '/page.js': [SCRIPT, './page/page.js'],
  '/page.css': [STYLE, './page/page.css'],
  '/icon.png': ['image/png', 'swagger-ui-dist/favicon-32x32.png'],
  '/swagger-ui.css': [STYLE, 'swagger-ui-dist/swagger-ui.css'],
  '/swagger-ui-bundle.js': [SCRIPT, 'swagger-ui-dist/swagger-ui-bundle.js'],
  // The redirect URI of the page, which must be registered for its OAuth client.
  '/oauth2-redirect.html': [HTML, 'swagger-ui-dist/oauth2-redirect.html'],
  '/oauth2-redirect.js': [SCRIPT, 'swagger-ui-dist/oauth2-redirect.js'],
};

const HEADERS = {
  // `data:` is needed for the icons in the style sheet of swagger-ui-dist.
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
};

/** Returns the handlers of the page, by exact path. A file is read at its first request and cached. */
export function pageHandlers(): Map<string, Handler> {
  return new Map(Object.entries(FILES).map(([name, file]) => [`${PAGE_PATH}${name}`, fileHandler(...file)]));
}

function fileHandler(type: string, file: string): Handler {
  let kept: StaticDocument | undefined;
  return async (context) => {
    requireRead(context);
    kept ??= staticBytes(await readFile(new URL(import.meta.resolve(file))));
    return writeDocument(context, kept, { ...HEADERS, 'Content-Type': type });
  };
}
