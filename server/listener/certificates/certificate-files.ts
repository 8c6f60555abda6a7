// Loads the serving certificate from files, and reloads changed files. Invalid new files do not replace the current
// certificate.
import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import { StartupError } from '../../../apis/config/v1alpha1/startup-error.ts';
import { messageOf } from '../../../apis/reading/thrown-value.ts';
import { describeFileError } from '../../files/file-error.ts';
import { watchFiles } from '../../files/file-watcher.ts';
import { readTextFile } from '../../files/text-file.ts';
import type { CertificateMetrics } from './certificate-metrics.ts';
import {
  type CertificateSource,
  ChangeListeners,
  checkServingCertificate,
  type ServingCertificate,
} from './serving-certificate.ts';

interface CertificatePaths {
  readonly certFile: string;
  readonly keyFile: string;
  /** Empty for none. */
  readonly caFile: string;
}

export interface CertificateFilesOptions {
  readonly paths: CertificatePaths;
  readonly log: Logger;
  readonly metrics: CertificateMetrics;
  readonly pollMs?: number;
  /** Delay between a file change and the reload, because the certificate and the key are written one after the other. */
  readonly settleMs?: number;
}

const SETTLE_MS = 200;

export class CertificateFiles implements CertificateSource {
  readonly ready = true;
  readonly #options: CertificateFilesOptions;
  readonly #listeners: ChangeListeners;
  #current: ServingCertificate | undefined;
  /** Digest of the last checked contents, or the last read error, so that each rejection is logged only once. */
  #checked = '';
  #reloading: Promise<void> = Promise.resolve();
  /** The queued reload. The running one may have read the files before the change. */
  #next: Promise<void> | undefined;

  constructor(options: CertificateFilesOptions) {
    this.#options = options;
    this.#listeners = new ChangeListeners((error) =>
      options.log.error({ err: error }, 'certificate change listener failed'),
    );
  }

  /** Loads the files, then watches them until `signal` is aborted. Throws StartupError for an invalid certificate or key. */
  async start(signal: AbortSignal): Promise<void> {
    const { paths, metrics, log, pollMs, settleMs = SETTLE_MS } = this.#options;
    try {
      const { certificate, digest } = await loadServingCertificate(paths);
      this.#checked = digest;
      this.#use(certificate);
    } catch (error) {
      metrics.certificate('refused');
      throw error;
    }
    watchFiles(pathsOf(paths), () => void this.reload(), signal, {
      ...(pollMs === undefined ? {} : { pollMs }),
      settleMs,
      onUnwatchable: (directory, error) =>
        log.debug({ err: error, directory }, 'directory cannot be watched, only polled'),
    });
  }

  current(): ServingCertificate {
    if (!this.#current) throw new Error('the serving certificate is not loaded yet');
    return this.#current;
  }

  onChange(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Reloads the files if they have changed. Never rejects: errors are logged, and the current certificate stays in use. */
  reload(): Promise<void> {
    this.#next ??= this.#reloading.then(() => {
      this.#next = undefined;
      this.#reloading = this.#reload();
      return this.#reloading;
    });
    return this.#next;
  }

  async #reload(): Promise<void> {
    const { paths, log, metrics } = this.#options;
    try {
      const { contents, digest } = await readContents(paths);
      if (digest === this.#checked) return;
      this.#checked = digest;
      const next = checkServingCertificate(contents.cert, contents.key, contents.ca);
      if (next.notAfter < new Date() && this.current().notAfter > next.notAfter) {
        throw new Error(`the new certificate expired at ${next.notAfter.toISOString()}`);
      }
      this.#use(next);
      log.info({ certFile: paths.certFile, notAfter: next.notAfter }, 'serving certificate reloaded');
      this.#listeners.notify();
    } catch (error) {
      const isUnreadable = error instanceof UnreadableFile;
      // The same read error is logged only once.
      if (isUnreadable && this.#checked === error.message) return;
      if (isUnreadable) this.#checked = error.message;
      metrics.certificate('refused');
      log.error(
        { certFile: paths.certFile, err: error },
        'new serving certificate refused, the current one stays in use',
      );
    }
  }

  #use(certificate: ServingCertificate): void {
    this.#current = certificate;
    this.#options.metrics.certificate('loaded');
  }
}

/** Loads the certificate for the start of the server. Throws StartupError for an unreadable file, and an invalid certificate or key. */
export async function loadServingCertificate(
  paths: CertificatePaths,
): Promise<{ readonly certificate: ServingCertificate; readonly digest: string }> {
  try {
    const { contents, digest } = await readContents(paths);
    return { certificate: checkServingCertificate(contents.cert, contents.key, contents.ca), digest };
  } catch (error) {
    throw new StartupError(
      'ERR_SERVING_CERTIFICATE',
      `serving certificate ${paths.certFile}: ${messageOf(error)}; correct it, or remove certFile and keyFile for an issued one`,
      { cause: error },
    );
  }
}

async function readContents(paths: CertificatePaths) {
  const texts = await Promise.allSettled(pathsOf(paths).map(readText));
  // Throws the error of the first unreadable file, in the order of the paths.
  const [cert = '', key = '', ca] = texts.map(valueOf);
  const digest = hash('sha256', JSON.stringify([cert, key, ca]), 'base64');
  return { contents: { cert, key, ca }, digest };
}

class UnreadableFile extends Error {
  constructor(path: string, cause: unknown) {
    super(`${path}: ${describeFileError(cause)}`, { cause });
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readTextFile(path);
  } catch (error) {
    throw new UnreadableFile(path, error);
  }
}

function valueOf(result: PromiseSettledResult<string>): string {
  if (result.status === 'rejected') throw result.reason;
  return result.value;
}

function pathsOf({ certFile, keyFile, caFile }: CertificatePaths): string[] {
  return caFile === '' ? [certFile, keyFile] : [certFile, keyFile, caFile];
}
