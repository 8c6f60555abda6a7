export interface ServingNames {
  /** The Service: the aggregator checks the certificate for `<service>.<namespace>.svc`. */
  readonly service: string;
  readonly namespace: string;
  readonly hostname: string;
  /** From the configuration. */
  readonly further: readonly string[];
}

/** Every name and address under which callers may reach us. */
export function servingNames({ service, namespace, hostname, further }: ServingNames): string[] {
  const names = [
    `${service}.${namespace}.svc`,
    `${service}.${namespace}.svc.cluster.local`,
    `${service}.${namespace}`,
    service,
    'localhost',
    hostname.toLowerCase(),
    '127.0.0.1',
    '::1',
    ...further,
  ];
  return [...new Set(names)].filter((name) => name !== '');
}
