// Writes the AuthenticationConfiguration file with which the local kube-apiserver accepts the server's access
// tokens. kube-apiserver reloads the changed file.
import { open, readFile, writeFile } from 'node:fs/promises';
import { authenticationConfiguration } from '../generate/authentication-configuration.ts';
import { hasCode } from '../system/error-code.ts';

interface TrustedServer {
  /** `iss` of the tokens; kube-apiserver fetches the keys from there. */
  readonly issuer: string;
  /** PEM. */
  readonly caFile: string;
  readonly audience: string;
  /** Clients whose ID tokens are accepted too. */
  readonly idTokensOf?: readonly string[];
}

export interface TokenTrust {
  /** Flag of kube-apiserver. */
  readonly flag: string;
  /** Trusts the server; call it when the server responds, because the server creates its CA at the start. */
  establish(server: TrustedServer): Promise<void>;
  /** Removes the trust; call it when kube-apiserver has stopped. */
  withdraw(): Promise<void>;
}

/**
 * Creates a configuration without an issuer, because an unreachable issuer would fill the log of kube-apiserver. Does not
 * change an existing file, because a running kube-apiserver may use it.
 */
export async function prepareTokenTrust(file: string): Promise<TokenTrust> {
  const noIssuer = authenticationConfiguration(undefined);
  await writeFile(file, noIssuer, { flag: 'wx' }).catch((error: unknown) => {
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
    withdraw: () => writeFile(file, noIssuer),
  };
}

/** Overwrites the file with one write, because kube-apiserver may read it at any moment. */
async function overwrite(file: string, content: string): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    const { bytesWritten } = await handle.write(content, 0);
    await handle.truncate(bytesWritten);
  } finally {
    await handle.close();
  }
}
