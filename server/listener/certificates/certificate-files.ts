// The serving certificate out of files that somebody else writes: cert-manager through a Secret volume, an
// administrator, a script. Changes are noticed by watching the folders, since Secret volumes swap a symbolic link
// beside the files, and by looking every few seconds, since some file systems report nothing.
import { hash } from 'node:crypto';
import { watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import { StartupError } from '../../../apis/config/v1alpha1/startup-error.ts';
import { messageOf } from '../../../apis/reading/thrown-value.ts';
import { describeFileError } from '../../cluster/connection/file-error.ts';
import type { CertificateMetrics } from './certificate-metrics.ts';
import { ChangeListeners } from './change-listeners.ts';
import {
  type CertificateSource,
  checkServingCertificate,
  type ServingCertificate,
} from './serving-certificate.ts';

export interface CertificatePaths {
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
  /** A pair is written file by file; waiting a moment spares a refusal of the half of it. */
  readonly settleMs?: number;
}

export class CertificateFiles implements CertificateSource {
  readonly #options: CertificateFilesOptions;
  readonly #listeners: ChangeListeners;
  #current: ServingCertificate | undefined;
  /** Of the contents that were looked at last, so that a broken pair is reported once. */
  #seen = '';
  #looking: Promise<void> = Promise.resolve();
  /** The look behind the one that is under way, which may have read what was there before. */
  #next: Promise<void> | undefined;

  constructor(options: CertificateFilesOptions) {
    this.#options = options;
    this.#listeners = new ChangeListeners((error) =>
      options.log.error({ err: error }, 'certificate change not heard'),
    );
  }

  /** Reads the files and follows them until `signal`. Throws StartupError when they cannot be served now. */
  async start(signal: AbortSignal): Promise<void> {
    const { paths, metrics } = this.#options;
    try {
      const { contents, digest } = await this.#read();
      this.#seen = digest;
      this.#take(checkServingCertificate(contents.cert, contents.key, contents.ca));
    } catch (error) {
      metrics.certificate('refused');
      const reason = messageOf(error);
      throw new StartupError(
        'ERR_SERVING_CERTIFICATE',
        `serving certificate ${paths.certFile}: ${reason}; mend it, or leave out certFile and keyFile for a self-signed one`,
        { cause: error },
      );
    }
    this.#follow(signal);
  }

  current(): ServingCertificate {
    if (!this.#current) throw new Error('the serving certificate was not read yet');
    return this.#current;
  }

  onChange(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  #follow(signal: AbortSignal): void {
    const { paths, log, pollMs = 10_000, settleMs = 200 } = this.#options;
    let settling: NodeJS.Timeout | undefined;
    const soon = () => {
      settling ??= setTimeout(() => {
        settling = undefined;
        void this.reload();
      }, settleMs);
    };
    const poll = setInterval(() => void this.reload(), pollMs);
    const watchers = [...new Set(files(paths).map((path) => dirname(path)))].flatMap((folder) => {
      try {
        const watcher = watch(folder, { persistent: false }, soon);
        watcher.on('error', (error) =>
          log.debug({ err: error, folder }, 'folder is not watched; it is polled'),
        );
        return watcher;
      } catch (error) {
        log.debug({ err: error, folder }, 'folder is not watched; it is polled');
        return [];
      }
    });
    signal.addEventListener(
      'abort',
      () => {
        clearInterval(poll);
        clearTimeout(settling);
        for (const watcher of watchers) watcher.close();
      },
      { once: true },
    );
  }

  /** Looks at the files now. What is broken is refused with a log line, and the old certificate stays. */
  reload(): Promise<void> {
    this.#next ??= this.#looking.then(() => {
      this.#next = undefined;
      this.#looking = this.#reload();
      return this.#looking;
    });
    return this.#next;
  }

  async #reload(): Promise<void> {
    const { paths, log, metrics } = this.#options;
    try {
      const { contents, digest } = await this.#read();
      if (digest === this.#seen) return;
      this.#seen = digest;
      const next = checkServingCertificate(contents.cert, contents.key, contents.ca);
      if (next.notAfter < new Date() && this.current().notAfter > next.notAfter) {
        throw new Error(`the new certificate expired at ${next.notAfter.toISOString()}`);
      }
      this.#take(next);
      log.info({ certFile: paths.certFile, notAfter: next.notAfter }, 'serving certificate taken into use');
      this.#listeners.notify();
    } catch (error) {
      const unreadable = error instanceof UnreadableFile;
      // Files that are briefly gone while they are replaced are not worth two log lines.
      if (unreadable && this.#seen === error.message) return;
      if (unreadable) this.#seen = error.message;
      metrics.certificate('refused');
      log.error(
        { certFile: paths.certFile, err: error },
        'new serving certificate refused, the old one stays in use',
      );
    }
  }

  async #read() {
    const { paths } = this.#options;
    const texts = await Promise.allSettled(files(paths).map(readText));
    // Of several that cannot be read always the first one is told, whichever was quicker to fail.
    const [cert = '', key = '', ca] = texts.map(textOf);
    const digest = hash('sha256', JSON.stringify([cert, key, ca]), 'base64');
    return { contents: { cert, key, ca }, digest };
  }

  #take(certificate: ServingCertificate): void {
    this.#current = certificate;
    this.#options.metrics.certificate('loaded');
  }
}

class UnreadableFile extends Error {
  constructor(path: string, cause: unknown) {
    super(`${path}: ${describeFileError(cause)}`, { cause });
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new UnreadableFile(path, error);
  }
}

function textOf(read: PromiseSettledResult<string>): string {
  if (read.status === 'rejected') throw read.reason;
  return read.value;
}

function files({ certFile, keyFile, caFile }: CertificatePaths): string[] {
  return caFile === '' ? [certFile, keyFile] : [certFile, keyFile, caFile];
}
