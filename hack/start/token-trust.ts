// Makes the local kube-apiserver take the access tokens of our server: the file that it is started with, filled in once
// the server runs and its CA is known. kube-apiserver reads it anew by itself.
import { readFile, writeFile } from 'node:fs/promises';
import { authenticationConfiguration } from '../generate/authentication-configuration.ts';

export interface TrustedServer {
  /** Of its TLS listener on this machine. */
  readonly port: number;
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
}

/** Trusts nobody yet: an issuer that does not answer would fill kube-apiserver's log. */
export async function prepareTokenTrust(file: string): Promise<TokenTrust> {
  await writeFile(file, authenticationConfiguration(undefined));
  return {
    flag: `--authentication-config=${file}`,
    establish: async ({ port, caFile, audience, idTokensOf = [] }) => {
      const trusted = authenticationConfiguration({
        url: `https://localhost:${port}/oauth`,
        audience,
        idTokensOf,
        certificateAuthority: await readFile(caFile, 'utf8'),
      });
      await writeFile(file, trusted);
    },
  };
}
