// Selects the source of the serving certificate: the configured certificate files, or else a self-signed
// certificate.
import type { ResolvedConfiguration } from '../../../apis/config/v1alpha1/configuration.ts';
import { DirectoryAuthorityStore, MemoryAuthorityStore } from './authority-store.ts';
import { CertificateFiles, type CertificateFilesOptions } from './certificate-files.ts';
import { SelfSignedCertificate } from './self-signed-certificate.ts';
import type { CertificateSource } from './serving-certificate.ts';

export interface StartableSource extends CertificateSource {
  /** Loads or issues the certificate, then renews it until `signal` is aborted. */
  start(signal: AbortSignal): Promise<void>;
}

export interface CertificateDependencies extends Pick<CertificateFilesOptions, 'log' | 'metrics'> {
  readonly hostname: string;
}

/** The Service of the server in the manifests. */
export const SERVICE = 'ks-apiserver';

export function chooseCertificate(
  {
    listeners: { secure },
    platform,
    gateway,
  }: Pick<ResolvedConfiguration, 'listeners' | 'platform' | 'gateway'>,
  { log, metrics, hostname }: CertificateDependencies,
): StartableSource {
  if (secure.certFile !== '') return new CertificateFiles({ paths: secure, log, metrics });
  const { directory, names } = secure.selfSigned;
  const store = directory === '' ? new MemoryAuthorityStore() : new DirectoryAuthorityStore(directory);
  return new SelfSignedCertificate({
    names: servingNames({
      service: SERVICE,
      namespace: platform.namespace,
      hostname,
      additional: [...names, gateway.proxyHost],
    }),
    store,
    log,
    metrics,
  });
}

export interface ServingNames {
  /** Name of the Service: the aggregator verifies the certificate for `<service>.<namespace>.svc`. */
  readonly service: string;
  readonly namespace: string;
  readonly hostname: string;
  readonly additional: readonly string[];
}

/** The DNS names and IP addresses of a self-signed certificate, without duplicates. */
export function servingNames({ service, namespace, hostname, additional }: ServingNames): string[] {
  const names = [
    `${service}.${namespace}.svc`,
    `${service}.${namespace}.svc.cluster.local`,
    `${service}.${namespace}`,
    service,
    'localhost',
    hostname.toLowerCase(),
    '127.0.0.1',
    '::1',
    ...additional,
  ];
  return [...new Set(names)].filter((name) => name !== '');
}
