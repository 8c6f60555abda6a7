// Values of the Helm chart that create each of its objects, and each member of them.

/** `kind`: that of the route. */
export function chartValues(kind: string): object {
  const texts = { 'example.com/key': 'true' };
  const host = 'api.example.com';
  return {
    image: { digest: `sha256:${'0'.repeat(64)}`, pullPolicy: 'Always', pullSecrets: ['registry'] },
    replicas: 3,
    configuration: { resources: { nodes: { usageAnnotations: true } } },
    service: { type: 'LoadBalancer', nodePort: 31_443, annotations: texts },
    ingress: { enabled: true, host, className: 'nginx', tlsSecretName: 'public', annotations: texts },
    route: {
      enabled: true,
      kind,
      host,
      parentRefs: [{ name: 'public', namespace: 'gateways', port: 443 }],
      caConfigMap: 'ks-apiserver-ca',
      annotations: texts,
    },
    certificates: { issuerRef: { name: 'ca', kind: 'ClusterIssuer' }, dnsNames: ['proxy.example.com'] },
    trustedCAs: '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n',
    networkPolicy: { enabled: true },
    impersonation: { callers: 'all', constrained: kind === 'TLSRoute' },
    monitoring: { enabled: true, labels: { release: 'prometheus' } },
    view: false,
    priorityQuota: true,
    keepUsers: false,
    resources: { requests: { cpu: 1 } },
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    tolerations: [{ key: 'dedicated', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }],
    affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway' },
    ],
    priorityClassName: 'system-node-critical',
    podAnnotations: texts,
    volumes: [{ name: 'logs', secret: { secretName: 'ks-apiserver-logs' } }],
    volumeMounts: [{ name: 'logs', mountPath: '/etc/ks-apiserver-logs', readOnly: true }],
  };
}
