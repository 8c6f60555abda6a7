// Program of a child process: reads the files that browsers get, removes the types, and sends them to its parent. The
// parts of Node that remove types need 25 MB of memory and block the event loop, so the server does not load them.
import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { BASE_STYLE, type BrowserFile, PACKAGES } from './browser-files.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** TypeScript files get the extension `.js`, because proxies and browsers take `.ts` for a video. */
function ownFile(path: string): BrowserFile {
  const source = readFileSync(new URL(path, pathToFileURL(root)), 'utf8');
  if (extname(path) !== '.ts') return { path, bytes: Buffer.from(source) };
  const script = stripTypeScriptTypes(source).replaceAll(
    /(\b(?:from|import)\s*\(?\s*'\.{1,2}\/[^']+)\.ts'/g,
    "$1.js'",
  );
  return { path: path.replace(/\.ts$/, '.js'), bytes: Buffer.from(script) };
}

function packageFile(specifier: string): BrowserFile {
  const bytes = readFileSync(new URL(import.meta.resolve(specifier)));
  return { path: `packages/${specifier}.js`, bytes };
}

if (import.meta.main) {
  const own = globSync('{client,explore}/**/*.{ts,css,svg}', { cwd: root, exclude: ['client/dist/**'] });
  const base = { ...ownFile('server/http/base.css'), path: BASE_STYLE };
  process.send?.([base, ...own.sort().map(ownFile), ...PACKAGES.map(packageFile)]);
}
