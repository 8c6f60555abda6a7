import { Gauge, type Registry } from 'prom-client';

/** Whether kube-apiserver trusts us, by APIService. */
export type TrustByApiService = () => Iterable<readonly [apiService: string, trusted: boolean]>;

export function collectRegistrationMetrics(registry: Registry, trust: TrustByApiService): void {
  registry.registerMetric(
    new Gauge({
      name: 'apiserver_registration_trusted',
      help: '1 while spec.caBundle of the APIService holds our serving CA, else 0; nothing when it is not ours to keep.',
      labelNames: ['apiservice'],
      registers: [],
      collect() {
        for (const [apiservice, trusted] of trust()) this.set({ apiservice }, trusted ? 1 : 0);
      },
    }),
  );
}
