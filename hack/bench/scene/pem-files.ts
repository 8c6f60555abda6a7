// Writes certificates and private keys to PEM files.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KeyPair } from '../../control-plane/certificate-authority.ts';
import type { ControlPlane } from '../../control-plane/control-plane.ts';
import type { PairFiles } from '../../control-plane/pki.ts';

/** Writes PEM data with mode 0600, and returns the path. */
async function pemFile(dir: string, name: string, text: string): Promise<string> {
  const path = join(dir, name);
  await writeFile(path, text, { mode: 0o600 });
  return path;
}

export async function pairFiles(dir: string, name: string, issued: Promise<KeyPair>): Promise<PairFiles> {
  const { cert, key } = await issued;
  return { cert: await pemFile(dir, `${name}.crt`, cert), key: await pemFile(dir, `${name}.key`, key) };
}

/** Files of the CA, and of a certificate for servers on loopback ports. */
export async function servingFiles(
  { pki, ca }: Pick<ControlPlane, 'pki' | 'ca'>,
  dir: string,
): Promise<PairFiles & { readonly ca: string }> {
  const names = { dns: ['localhost', 'ks-apiserver.platform-system.svc'], ip: ['127.0.0.1'] };
  const serving = await pairFiles(dir, 'serving', pki.cluster.issueServer({ cn: 'ks-apiserver' }, names));
  return { ...serving, ca: await pemFile(dir, 'ca.crt', ca) };
}
