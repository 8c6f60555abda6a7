// Authenticator that reads the token files of a kubeconfig. client-node knows only the field `token-file`, not `tokenFile` of kubectl: it
// would send requests without a token.
import { resolve } from 'node:path';
import type { KubeConfig, User } from '@kubernetes/client-node';
import { parseDocument } from 'yaml';
import { array, record, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import { describeFileError } from '../../files/file-error.ts';
import { readTextFile } from '../../files/text-file.ts';

/** The auth provider by which client-node selects this authenticator. */
const PROVIDER = 'tokenFile';

type Authenticator = Parameters<KubeConfig['addAuthenticator']>[0];

/** Selects the token files of the users of `config`. `kubeconfig`: its text. `folder`: of the kubeconfig, for relative paths. */
export function selectTokenFiles(config: KubeConfig, kubeconfig: string, folder: string): void {
  if (!kubeconfig.includes(PROVIDER)) return;
  const parsed: unknown = parseDocument(kubeconfig, { logLevel: 'silent', uniqueKeys: false }).toJS();
  const files = new Map<unknown, string>();
  for (const entry of array(record(parsed)['users'])) {
    const file = text(recordIn(entry, 'user')[PROVIDER]);
    if (file !== '') files.set(record(entry)['name'], resolve(folder, file));
  }
  config.users = config.users.map((user) => {
    const file = files.get(user.name);
    return file === undefined || user.exec || user.authProvider
      ? user
      : { ...user, authProvider: { name: PROVIDER, config: { file } } };
  });
}

export class TokenFiles implements Authenticator {
  isAuthProvider({ authProvider }: User): boolean {
    return authProvider?.name === PROVIDER;
  }

  /** Reads the file each time, because the token is rotated. */
  async applyAuthentication(...[user, options]: Parameters<Authenticator['applyAuthentication']>) {
    const file = text(recordIn(user.authProvider, 'config')['file']);
    const content = await readTextFile(file).catch((cause: unknown) => {
      throw new Error(`tokenFile of the kubeconfig: ${file}: ${describeFileError(cause)}`, { cause });
    });
    const token = content.trim();
    if (token === '') throw new Error(`tokenFile of the kubeconfig: ${file}: it is empty`);
    options.headers ??= {};
    Object.assign(options.headers, { Authorization: `Bearer ${token}` });
  }
}
