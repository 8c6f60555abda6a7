// Selects the source of the serving certificate: the configured certificate files, or else certificates that the server
// issues.
import type { CompletedConfig } from '../../config/config.ts';
import { CertificateFiles, type CertificateFilesOptions } from './certificate-files.ts';
import { IssuedCertificate, type IssuedCertificateOptions } from './issued-certificate.ts';
import type { CertificateSource } from './serving-certificate.ts';

export interface StartableSource extends CertificateSource {
  /** False while the certificate is a temporary one, which no client trusts. */
  readonly ready: boolean;
  /** Loads or issues the certificate, then renews it until `signal` is aborted. */
  start(signal: AbortSignal): Promise<void>;
}

interface CertificateDependencies
  extends Pick<CertificateFilesOptions, 'log' | 'metrics'>,
    Pick<IssuedCertificateOptions, 'secret'> {
  readonly hostname: string;
}

/** The Service of the server in the manifests. */
export const SERVICE = 'ks-apiserver';

type CertificateConfiguration = Pick<CompletedConfig, 'listeners' | 'platform' | 'gateway'>;

export function chooseCertificate(
  config: CertificateConfiguration,
  { log, metrics, hostname, secret }: CertificateDependencies,
): StartableSource {
  const { secure } = config.listeners;
  if (secure.certFile !== '') return new CertificateFiles({ paths: secure, log, metrics });
  return new IssuedCertificate({ names: issuedNames(config, hostname), secret, log, metrics });
}

/** The names of a certificate that the server on the machine `hostname` issues itself. */
export function issuedNames(
  { listeners: { secure }, platform, gateway }: CertificateConfiguration,
  hostname: string,
): string[] {
  return servingNames({
    service: SERVICE,
    namespace: platform.namespace,
    hostname,
    additional: [...secure.selfSigned.names, gateway.proxyHost],
  });
}

interface ServingNames {
  /** Name of the Service: the aggregator verifies the certificate for `<service>.<namespace>.svc`. */
  readonly service: string;
  readonly namespace: string;
  readonly hostname: string;
  readonly additional: readonly string[];
}

/** The DNS names and IP addresses of an issued certificate, without duplicates. */
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
