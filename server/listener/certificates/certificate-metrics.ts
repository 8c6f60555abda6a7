import { Counter, Gauge, type Registry } from 'prom-client';

/** What becomes of serving certificates. */
export interface CertificateMetrics {
  certificate(result: 'loaded' | 'refused'): void;
  certificateExpires(at: Date): void;
}

export function newCertificateMetrics(registry: Registry): CertificateMetrics {
  const registers = [registry];
  const reloads = new Counter({
    name: 'apiserver_serving_certificate_reloads_total',
    help: 'Serving certificates that were taken into use, or refused because they were broken.',
    labelNames: ['result'],
    registers,
  });
  const expiry = new Gauge({
    name: 'apiserver_serving_certificate_expiration_timestamp_seconds',
    help: 'When the serving certificate expires, in seconds since the epoch.',
    registers,
  });
  return {
    certificate: (result) => reloads.inc({ result }),
    certificateExpires: (at) => expiry.set(at.getTime() / 1000),
  };
}
