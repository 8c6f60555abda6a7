// Serves the page `/explore`, and the client library under `/client/v1`. The files are the same for everyone, and contain
// nothing of the cluster; the page gets its data with the token of its user.
import { extname } from 'node:path';
import type { Router } from 'express';
import { newPathNotFound } from '../../apis/meta/v1/errors.ts';
import { endpoint, newRouter, readOnly } from '../http/endpoint.ts';
import { writeDocument } from '../http/static-document.ts';
import type { Handler } from '../request/request-context.ts';
import { type BrowserFiles, newBrowserFiles } from './browser-files.ts';
import { type ExplorePage, explorePage, type PageContent, type PageMetadata } from './explore-page.ts';

export const EXPLORE_PATH = '/explore';
const ASSETS = `${EXPLORE_PATH}/assets/`;
/** The redirect URI of the OAuth client `explore` (oauth/settings.ts). */
const CALLBACK = `${EXPLORE_PATH}/callback`;
const LIBRARY = '/client/v1/';

/** A packet of the network has about as many bytes, so smaller files gain nothing. */
const COMPRESSED_FROM = 1024;

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

export function exploreRouter(metadata: PageMetadata): Router {
  const files = newBrowserFiles();
  const router = newRouter();
  const serve = (path: string, handler: Handler): void => {
    router.route(path).get(endpoint(handler)).all(readOnly);
  };
  serve(`${ASSETS}*path`, assetHandler(files));
  serve(CALLBACK, pageHandler(files, { ...metadata, main: 'explore/callback.js', embeddable: true }));
  const page = pageHandler(files, { ...metadata, main: 'explore/main.js', embeddable: false });
  serve(EXPLORE_PATH, page);
  serve(`${EXPLORE_PATH}/`, page);
  serve(`${EXPLORE_PATH}/*path`, page);
  serve(`${LIBRARY}*path`, libraryHandler(files));
  return router;
}

function pageHandler(files: () => Promise<BrowserFiles>, content: Omit<PageContent, 'base'>): Handler {
  let page: ExplorePage | undefined;
  return async (context) => {
    const known = await files();
    page ??= explorePage(known, { ...content, base: `${ASSETS}${known.digest}/` });
    return writeDocument(context, page.document, page.headers);
  };
}

/** The digest in the path makes each version immutable. Another digest is 404, so that no file of one version runs with another's. */
function assetHandler(files: () => Promise<BrowserFiles>): Handler {
  return async (context) => {
    const { digest, documents } = await files();
    const base = `${ASSETS}${digest}/`;
    const { path } = context.info;
    const name = path.startsWith(base) ? path.slice(base.length) : '';
    return writeFile(context, documents, name, {
      'Cache-Control': 'public, max-age=31536000, immutable',
      'Cross-Origin-Resource-Policy': 'same-origin',
    });
  };
}

/** For consoles of any origin: the library contains no data, and the server reads no cookie here. */
function libraryHandler(files: () => Promise<BrowserFiles>): Handler {
  return async (context) => {
    const { documents } = await files();
    return writeFile(context, documents, `client/${context.info.path.slice(LIBRARY.length)}`, {
      'Cache-Control': 'no-cache',
      'Access-Control-Allow-Origin': '*',
      'Cross-Origin-Resource-Policy': 'cross-origin',
    });
  };
}

function writeFile(
  context: Parameters<Handler>[0],
  documents: BrowserFiles['documents'],
  name: string,
  headers: Readonly<Record<string, string>>,
): Promise<void> | void {
  const document = documents.get(name);
  const type = TYPES[extname(name)];
  if (!document || type === undefined) throw newPathNotFound();
  const all = { ...headers, 'Content-Type': type, 'X-Content-Type-Options': 'nosniff' };
  return writeDocument(context, document, all, COMPRESSED_FROM);
}
