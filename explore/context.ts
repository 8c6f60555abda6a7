// What all views share: the client with the token of the user, and the kinds of the cluster.
import type { Client } from 'ks-apiserver-client';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Kind } from './kinds.ts';

export interface Explore {
  readonly client: Client;
  /** The kinds of the cluster, by their resource such as `deployments.apps`. Empty until discovery has responded. */
  readonly kinds: ReadonlyMap<string, Kind>;
}

export const ExploreContext = createContext<Explore | undefined>(undefined);

export function useExplore(): Explore {
  const explore = useContext(ExploreContext);
  if (!explore) throw new Error('a view is outside of ExploreContext');
  return explore;
}
