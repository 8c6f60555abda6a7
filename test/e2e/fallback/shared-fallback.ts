// The servers of all tests in this folder, at a kube-apiserver that trusts no issuer at first.
import { shareEnvironment } from '../../support/shared-environment.ts';
import { FallbackPlatform } from './fallback-platform.ts';

export const sharedFallback = shareEnvironment(() => FallbackPlatform.start());
