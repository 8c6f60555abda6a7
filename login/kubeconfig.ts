// The kubeconfig entries of a sign-in. Other entries, unknown fields and comments are preserved.
import { readFile, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type Document, isMap, isSeq, parseDocument, YAMLMap, YAMLSeq } from 'yaml';
import { codeOf } from '../apis/reading/thrown-value.ts';
import { array, record, recordIn, text, texts } from '../apis/reading/unknown-value.ts';
import {
  EXEC_API_VERSION,
  type GetTokenArguments,
  getTokenArguments,
  parseArguments,
  type Target,
} from './arguments.ts';
import { replaceFile, withLock } from './locked-file.ts';
import { LoginError } from './login-error.ts';
import type { PluginCommand } from './sign-in.ts';

/** The file that a sign-in changes. */
export function kubeconfigFile(given: string | undefined, env: NodeJS.ProcessEnv): string {
  const first = (env['KUBECONFIG'] ?? '').split(delimiter).find((file) => file !== '');
  return given ?? first ?? join(env['HOME'] || homedir(), '.kube/config');
}

/** The context `name`, or the current context; undefined if this program has not written it. */
export async function readContext(file: string, name: string | undefined): Promise<Target | undefined> {
  const config = record((await readDocument(file)).toJS());
  const context = recordIn(named(config, 'contexts', name ?? text(config['current-context'])), 'context');
  const target = targetIn(named(config, 'users', text(context['user'])));
  if (target === undefined) return undefined;
  const cluster = recordIn(named(config, 'clusters', text(context['cluster'])), 'cluster');
  const ca = Buffer.from(text(cluster['certificate-authority-data']), 'base64').toString('utf8');
  return { ...target, ca: ca || undefined };
}

/** Adds or replaces the cluster, the user and the context of a target, and makes the context current. */
export async function writeContext(file: string, target: Target, plugin: PluginCommand): Promise<void> {
  const { server, context: name, ca } = target;
  await withLock(file, async () => {
    const document = await readDocument(file);
    const config = record(document.toJS());
    checkName(config, file, name);
    document.set('apiVersion', 'v1');
    document.set('kind', 'Config');
    replaceEntry(document, 'clusters', name, {
      cluster: {
        server,
        ...(ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
      },
    });
    replaceEntry(document, 'users', name, { user: { exec: execOf(target, plugin) } });
    // The user may have set a namespace.
    const context = { ...recordIn(named(config, 'contexts', name), 'context'), cluster: name, user: name };
    replaceEntry(document, 'contexts', name, { context });
    document.set('current-context', name);
    // lineWidth 0 does not fold lines.
    await replaceFile(await targetOf(file), document.toString({ lineWidth: 0 }), await modeOf(file));
  });
}

/** Throws LoginError if `name` is the user of another program, which `writeContext` would replace. */
export async function checkContextName(file: string, name: string): Promise<void> {
  checkName((await readDocument(file)).toJS(), file, name);
}

function checkName(config: unknown, file: string, name: string): void {
  const user = named(config, 'users', name);
  if (user === undefined || targetIn(user) !== undefined) return;
  throw new LoginError(`${file} has another user "${name}": choose a name with --context NAME`);
}

function execOf(target: Target, { command, args }: PluginCommand): object {
  return {
    apiVersion: EXEC_API_VERSION,
    command,
    args: [...args, ...getTokenArguments(target)],
    interactiveMode: 'IfAvailable',
    // Passes the CA of the cluster.
    provideClusterInfo: true,
    installHint: `The program that signs in to ${target.server} was moved or deleted. In a clone of ks-apiserver, run: npm run login -- ${target.server}`,
  };
}

/** Undefined for a user of another program. */
function targetIn(user: unknown): GetTokenArguments['target'] | undefined {
  const { exec } = recordIn(user, 'user');
  const args = array(record(exec)['args']).map(text);
  const script = args.findIndex((arg) => /[\\/]login[\\/]main\.ts$/.test(arg));
  if (script === -1) return undefined;
  try {
    const parsed = parseArguments(args.slice(script + 1));
    return parsed.command === 'get-token' ? parsed.target : undefined;
  } catch {
    return undefined;
  }
}

type List = 'clusters' | 'users' | 'contexts';

function named(config: unknown, list: List, name: string): unknown {
  return array(record(config)[list]).find((entry) => texts(entry)['name'] === name);
}

function replaceEntry(document: Document, list: List, name: string, entry: object): void {
  const existing = document.get(list);
  const entries = isSeq(existing) ? existing : new YAMLSeq();
  if (entries !== existing) document.set(list, entries);
  const node = document.createNode({ name, ...entry });
  const index = entries.items.findIndex((item) => isMap(item) && item.get('name') === name);
  if (index === -1) entries.add(node);
  else entries.set(index, node);
}

async function readDocument(file: string): Promise<Document> {
  const content = await readFile(file, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  });
  const document: Document = parseDocument(content);
  const [error] = document.errors;
  if (error) throw new LoginError(`${file} is not valid YAML: ${error.message.split('\n')[0]}`);
  if (document.contents === null) document.contents = new YAMLMap();
  if (!isMap(document.contents)) throw new LoginError(`${file} is not a kubeconfig`);
  return document;
}

/** A symbolic link is not replaced by a file. */
async function targetOf(file: string): Promise<string> {
  return realpath(file).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return file;
    throw error;
  });
}

async function modeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ mode }) => mode & 0o777,
    (error: unknown) => {
      if (codeOf(error) === 'ENOENT') return 0o600;
      throw error;
    },
  );
}
