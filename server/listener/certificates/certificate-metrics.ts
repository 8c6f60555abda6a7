// Reports metrics of the serving certificate, and logs a warning before expiry.
import type { Logger } from 'pino';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { CertificateSource } from './serving-certificate.ts';

export interface CertificateMetrics {
  certificate(result: 'loaded' | 'refused'): void;
  certificateExpires(at: Date): void;
}

export function newCertificateMetrics(registry: Registry): CertificateMetrics {
  const registers = [registry];
  const reloads = new Counter({
    name: 'apiserver_serving_certificate_reloads_total',
    help: 'Serving certificates loaded or refused, by result.',
    labelNames: ['result'],
    registers,
  });
  const expiry = new Gauge({
    name: 'apiserver_serving_certificate_expiration_timestamp_seconds',
    help: 'Expiry of the serving certificate, in Unix seconds.',
    registers,
  });
  return {
    certificate: (result) => reloads.inc({ result }),
    certificateExpires: (at) => expiry.set(at.getTime() / 1000),
  };
}

const DAY_MS = 24 * 3_600_000;

/** Updates the expiry metric and warns daily before the certificate expires, until `signal` is aborted. */
export function watchExpiry(
  source: CertificateSource,
  metrics: CertificateMetrics,
  log: Logger,
  signal: AbortSignal,
): void {
  const check = () => {
    const { notAfter } = source.current();
    metrics.certificateExpires(notAfter);
    if (expiresSoon(source, new Date())) log.warn({ notAfter }, 'the serving certificate expires soon');
  };
  check();
  const timer = setInterval(check, DAY_MS);
  timer.unref();
  const unsubscribe = source.onChange(check);
  signal.addEventListener(
    'abort',
    () => {
      clearInterval(timer);
      unsubscribe();
    },
    { once: true },
  );
}

/** True in the last fifth of the lifetime. Renewal is usually complete before. */
function expiresSoon(source: CertificateSource, now: Date): boolean {
  const { notBefore, notAfter } = source.current();
  return (notAfter.getTime() - now.getTime()) * 5 < notAfter.getTime() - notBefore.getTime();
}
