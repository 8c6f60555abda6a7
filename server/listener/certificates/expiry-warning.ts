import type { Logger } from 'pino';
import type { CertificateMetrics } from './certificate-metrics.ts';
import type { CertificateSource } from './serving-certificate.ts';

const DAY_MS = 24 * 3_600_000;

/** Keeps the expiry metric right, and warns once a day when the certificate expires soon. Ends with `signal`. */
export function watchExpiry(
  source: CertificateSource,
  metrics: CertificateMetrics,
  log: Logger,
  signal: AbortSignal,
): void {
  const look = () => {
    const { notAfter } = source.current();
    metrics.certificateExpires(notAfter);
    if (expiresSoon(source, new Date())) log.warn({ notAfter }, 'the serving certificate expires soon');
  };
  look();
  const timer = setInterval(look, DAY_MS);
  timer.unref();
  const end = source.onChange(look);
  signal.addEventListener(
    'abort',
    () => {
      clearInterval(timer);
      end();
    },
    { once: true },
  );
}

/** Less than a fifth of its life is left: whoever renews certificates should have done so by then. */
function expiresSoon(source: CertificateSource, now: Date): boolean {
  const { notBefore, notAfter } = source.current();
  return (notAfter.getTime() - now.getTime()) * 5 < notAfter.getTime() - notBefore.getTime();
}
