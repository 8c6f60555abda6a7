// Makes the local kube-apiserver take the access tokens of our server: the file that it is started with, filled in once
// the server runs and its CA is known. kube-apiserver reads it anew by itself.
import { open, readFile, writeFile } from 'node:fs/promises';
import { authenticationConfiguration } from '../generate/authentication-configuration.ts';
import { hasCode } from '../system/error-code.ts';

export interface TrustedServer {
  /** As its tokens have it; kube-apiserver asks for the keys there. */
  readonly issuer: string;
  /** PEM. */
  readonly caFile: string;
  readonly audience: string;
  /** Clients whose id tokens count as well. */
  readonly idTokensOf?: readonly string[];
}

export interface TokenTrust {
  /** For kube-apiserver. */
  readonly flag: string;
  /** Once the server answers. */
  establish(server: TrustedServer): Promise<void>;
  /** Once kube-apiserver has ended, for the next start. */
  withdraw(): Promise<void>;
}

/**
 * Trusts nobody yet: an issuer that does not answer would fill kube-apiserver's log. A file that is there stays as it
 * is, for it may be that of a kube-apiserver which runs already.
 */
export async function prepareTokenTrust(file: string): Promise<TokenTrust> {
  const nobody = authenticationConfiguration(undefined);
  await writeFile(file, nobody, { flag: 'wx' }).catch((error: unknown) => {
    if (!hasCode(error, 'EEXIST')) throw error;
  });
  return {
    flag: `--authentication-config=${file}`,
    establish: async ({ issuer, caFile, audience, idTokensOf = [] }) => {
      const trusted = authenticationConfiguration({
        url: issuer,
        audience,
        idTokensOf,
        certificateAuthority: await readFile(caFile, 'utf8'),
      });
      await overwrite(file, trusted);
    },
    withdraw: () => writeFile(file, nobody),
  };
}

/** In one write: kube-apiserver reads it at once, and must not find it empty or half written. */
async function overwrite(file: string, content: string): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    const { bytesWritten } = await handle.write(content, 0);
    await handle.truncate(bytesWritten);
  } finally {
    await handle.close();
  }
}
