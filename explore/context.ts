// What all views share: the client with the token of the user, the kinds of the cluster, and the state of the connection.
import type { Client, Connection } from 'ks-apiserver-client';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Discovered } from './kinds.ts';

/** Kinds and groups are empty until discovery has responded. */
export interface Explore extends Discovered {
  readonly client: Client;
  /** The option `onConnection` of every stream: the frame shows a lost connection, and when the next attempt is. */
  readonly onConnection: (connection: Connection) => void;
}

export const ExploreContext = createContext<Explore | undefined>(undefined);

export function useExplore(): Explore {
  const explore = useContext(ExploreContext);
  if (!explore) throw new Error('a view is outside of ExploreContext');
  return explore;
}
