// Makes the local kube-apiserver take the access tokens of our server: the file that it is started with, filled in once
// the server runs and its CA is known. kube-apiserver reads it anew by itself.
import { readFile, writeFile } from 'node:fs/promises';
import { authenticationConfiguration } from '../generate/authentication-configuration.ts';
import type { Names } from '../generate/names.ts';
import type { DevelopmentServer } from './development-server.ts';

export interface TokenTrust {
  /** For kube-apiserver. */
  readonly flag: string;
  /** Once the server answers. */
  establish(server: DevelopmentServer, names: Names): Promise<void>;
}

/** Trusts nobody yet: an issuer that does not answer would fill kube-apiserver's log. */
export async function prepareTokenTrust(file: string): Promise<TokenTrust> {
  await writeFile(file, authenticationConfiguration(undefined));
  return {
    flag: `--authentication-config=${file}`,
    establish: async (server, names) => {
      const trusted = authenticationConfiguration({
        url: `https://localhost:${server.ports.secure}/oauth`,
        audience: names.platform,
        certificateAuthority: await readFile(server.caFile, 'utf8'),
      });
      await writeFile(file, trusted);
    },
  };
}
