// The kubeconfig with which users reach the cluster through the gateway.
import { kubeloginKubeconfig } from '../../apis/oauth/kubelogin-kubeconfig.ts';
import type { CompletedConfig } from '../config/config.ts';
import type { StartableSource } from '../listener/certificates/certificate-choice.ts';
import { rootsFor } from '../listener/certificates/serving-certificate.ts';

/** Undefined if the gateway is disabled. `issuer`: known when the first request arrives. */
export function userKubeconfig(
  { gateway, platform: { name } }: Pick<CompletedConfig, 'gateway' | 'platform'>,
  certificates: Pick<StartableSource, 'ready' | 'current'>,
  issuerOf: () => string,
): (() => string) | undefined {
  if (!gateway.enabled) return undefined;
  return () => {
    const issuer = issuerOf();
    const { origin: server, hostname } = new URL(issuer);
    const ca = certificates.ready ? rootsFor(certificates.current(), hostname) : undefined;
    return kubeloginKubeconfig({ name, issuer, issuerCA: ca, server, serverCA: ca });
  };
}
