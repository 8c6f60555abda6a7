// The root certificates that verify the server at an address, from its configuration: those of its certificate files, or those
// in the APIService, where the server publishes the CA of the certificates that it issues itself.
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { UsageError } from '../../apis/reading/command-line.ts';
import { array, record, recordIn, text } from '../../apis/reading/unknown-value.ts';
import { apiServiceName } from '../../apis/resources/v1alpha3/group-version.ts';
import type { CompletedConfig } from '../config/config.ts';
import { describeFileError } from '../files/file-error.ts';
import { pemCertificates } from '../files/pem-certificates.ts';
import { issuedNames } from '../listener/certificates/certificate-choice.ts';
import { rootsFor, rootsIn } from '../listener/certificates/serving-certificate.ts';
import type { CommandContext } from './command.ts';
import { withCluster } from './installation.ts';

const TIMEOUT_MS = 30_000;

/** PEM; undefined if the certificate of the server is not for `host`, because a proxy has another one there. */
export async function servingRoots(
  config: CompletedConfig,
  host: string,
  context: CommandContext,
): Promise<string | undefined> {
  const { secure } = config.listeners;
  if (secure.certFile !== '') {
    const cert = await certificatesOf(secure.certFile, context);
    // Without a file of its own, the CA is in the chain.
    return rootsFor({ cert, ca: secure.caFile ? await certificatesOf(secure.caFile, context) : cert }, host);
  }
  if (!issuedNames(config, hostname()).includes(host.replace(/^\[(.*)\]$/, '$1'))) return undefined;
  return withCluster(config, context, async (client) => {
    const name = apiServiceName(config.platform.name);
    const path = `/apis/apiregistration.k8s.io/v1/apiservices?fieldSelector=metadata.name%3D${name}`;
    // The server is allowed to list APIServices, not to get one.
    const list = record(await client.json({ method: 'GET', path, signal: AbortSignal.timeout(TIMEOUT_MS) }));
    const [service] = array(list['items']);
    const bundle = service === undefined ? '' : text(recordIn(record(service), 'spec')['caBundle']);
    const roots = config.registration.manageCABundle
      ? rootsIn(Buffer.from(bundle, 'base64').toString())
      : undefined;
    if (roots === undefined)
      throw new Error(
        `APIService ${name} has no CA of the server: pass it with --certificate-authority FILE`,
      );
    return roots;
  });
}

/** The certificates of a file, PEM, without anything else in the file, such as a private key. */
export async function certificatesOf(file: string, { workingDirectory }: CommandContext): Promise<string> {
  let content: string;
  try {
    content = await readFile(resolve(workingDirectory, file), 'utf8');
  } catch (error) {
    throw new UsageError(`${file}: ${describeFileError(error)}`, { cause: error });
  }
  const certificates = pemCertificates(content);
  if (certificates.length === 0) throw new UsageError(`${file}: it contains no certificate in PEM format`);
  return `${certificates.join('\n')}\n`;
}
