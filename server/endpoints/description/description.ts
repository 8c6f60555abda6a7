// Serves the OpenAPI 3.1 documents of the platform APIs, and the API page, which displays them. endpoints/openapi serves
// the OpenAPI documents that kube-apiserver aggregates.

import { readFile } from 'node:fs/promises';
import type { Router } from 'express';
import { customResourcesDescription } from '../../../apis/description/custom-resources-document.ts';
import { type PlatformOptions, platformDescription } from '../../../apis/description/platform-apis.ts';
import { endpoint, newRouter, readOnly, redirectFromSlash } from '../../http/endpoint.ts';
import {
  type StaticDocument,
  staticBytes,
  staticDocument,
  writeDocument,
} from '../../http/static-document.ts';
import type { Handler } from '../../request/request-context.ts';

const PLATFORM_DOCUMENT = '/openapi/platform.json';
const CUSTOM_RESOURCES_DOCUMENT = '/openapi/custom-resources.json';

export function descriptionRouter(described: PlatformOptions): Router {
  const router = newRouter();
  const serve = (path: string, handler: Handler): void => {
    router.route(path).get(endpoint(handler)).all(readOnly);
  };
  serve(PLATFORM_DOCUMENT, documentHandler(platformDescription(described)));
  serve(CUSTOM_RESOURCES_DOCUMENT, documentHandler(customResourcesDescription(described)));
  for (const [name, file] of Object.entries(FILES)) serve(`${PAGE_PATH}${name}`, fileHandler(...file));
  redirectFromSlash(router, PAGE_PATH);
  return router;
}

function documentHandler(value: object): Handler {
  const document = staticDocument(value);
  return (context) => {
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

/** A file is read at its first request and cached. */
function fileHandler(type: string, file: string): Handler {
  let kept: StaticDocument | undefined;
  return async (context) => {
    kept ??= staticBytes(await readFile(new URL(import.meta.resolve(file))));
    return writeDocument(context, kept, { ...HEADERS, 'Content-Type': type });
  };
}
