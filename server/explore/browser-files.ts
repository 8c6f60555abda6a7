// The files that browsers get: the client library, the page and the packages that it imports. They are read once, when a
// browser first requests one; only these files can be served.
import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { type StaticDocument, staticBytes } from '../http/static-document.ts';

/** The packages that the page imports, besides the client library. */
export const PACKAGES = ['preact', 'preact/hooks'];

/** The style of all pages of the server. The sign-in pages have it too (oauth/page/page.ts). */
export const BASE_STYLE = 'base.css';

/** A file by its path below the address of the files, such as `explore/main.js`. */
export interface BrowserFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

export interface BrowserFiles {
  /** Changes with any of the files. */
  readonly digest: string;
  /** By their paths, such as `explore/main.js`. */
  readonly documents: ReadonlyMap<string, StaticDocument>;
}

/** Returns a function that returns the files; a failure is not cached. */
export function newBrowserFiles(): () => Promise<BrowserFiles> {
  let known: Promise<BrowserFiles> | undefined;
  return () => {
    known ??= load().catch((error: unknown) => {
      known = undefined;
      throw error;
    });
    return known;
  };
}

/** Time in ms that the child process may take. */
const TIMEOUT_MS = 20_000;

async function load(): Promise<BrowserFiles> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly BrowserFile[]>();
  const program = fileURLToPath(new URL('read-browser-files.ts', import.meta.url));
  const child = fork(program, {
    // Node calls the removal of types experimental, although it runs this server with it.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    serialization: 'advanced',
    timeout: TIMEOUT_MS,
  });
  child.once('message', (message) => resolve(message as readonly BrowserFile[]));
  child.once('error', reject);
  child.once('exit', (code, signal) =>
    reject(new Error(`reading the files for browsers ended with ${signal ?? `code ${code}`}`)),
  );
  const files = await promise;
  const digest = createHash('sha256');
  const documents = new Map<string, StaticDocument>();
  for (const { path, bytes } of files) {
    const document = staticBytes(Buffer.from(bytes));
    digest.update(`${path} ${document.hash}\n`);
    documents.set(path, document);
  }
  return { digest: digest.digest('hex').slice(0, 16), documents };
}
