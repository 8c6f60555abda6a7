import type { ResolvedConfiguration } from '../../../apis/config/v1alpha1/configuration.ts';
import { DirectoryAuthorityStore, MemoryAuthorityStore } from './authority-store.ts';
import { CertificateFiles, type CertificateFilesOptions } from './certificate-files.ts';
import { SelfSignedCertificate } from './self-signed-certificate.ts';
import type { CertificateSource } from './serving-certificate.ts';
import { servingNames } from './serving-names.ts';

export interface StartableSource extends CertificateSource {
  /** Gets the first certificate, and follows what it comes from until `signal`. */
  start(signal: AbortSignal): Promise<void>;
}

export interface CertificateDependencies extends Pick<CertificateFilesOptions, 'log' | 'metrics'> {
  readonly hostname: string;
}

/** Files when the configuration names them, else a CA of our own. */
export function chooseCertificate(
  { listeners: { secure }, platform }: Pick<ResolvedConfiguration, 'listeners' | 'platform'>,
  { log, metrics, hostname }: CertificateDependencies,
): StartableSource {
  if (secure.certFile !== '') return new CertificateFiles({ paths: secure, log, metrics });
  const { directory, names } = secure.selfSigned;
  const store = directory === '' ? new MemoryAuthorityStore() : new DirectoryAuthorityStore(directory);
  const { service, namespace } = platform;
  return new SelfSignedCertificate({
    names: servingNames({ service, namespace, hostname, further: names }),
    store,
    log,
    metrics,
  });
}
