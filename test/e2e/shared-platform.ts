// The server, with its control plane and nodes, of the tests of callers and clients.
import { shareEnvironment } from '../support/shared-environment.ts';
import { NODES, Platform } from './platform.ts';

export const sharedPlatform = shareEnvironment(() => Platform.start(NODES));
