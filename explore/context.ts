// What all views share: the client with the token of the user, the kinds of the cluster, and the state of the connection.
import type { Client, Connection } from 'ks-apiserver-client';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Kind } from './kinds.ts';

export interface Explore {
  readonly client: Client;
  /** The kinds of the cluster, by their resource such as `deployments.apps`. Empty until discovery has responded. */
  readonly kinds: ReadonlyMap<string, Kind>;
  /** The option `onConnection` of every stream: the frame shows a lost connection, and when the next attempt is. */
  readonly onConnection: (connection: Connection) => void;
}

export const ExploreContext = createContext<Explore | undefined>(undefined);

export function useExplore(): Explore {
  const explore = useContext(ExploreContext);
  if (!explore) throw new Error('a view is outside of ExploreContext');
  return explore;
}
