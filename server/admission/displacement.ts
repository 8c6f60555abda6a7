// Displacement: which seat or waiting request loses its place to a newcomer when there is no room.

/** The seats and the waiting requests of a caller or a group. */
export interface Load {
  held: number;
  waiting: number;
}

/** A seat or a waiting request that can lose its place. */
export interface Displaceable {
  /** Position in the order of arrival. */
  readonly number: number;
  /** Absent for a request that is never idle. */
  readonly isIdle: (() => boolean) | undefined;
  displace(): void;
}

/** A caller. */
export interface Share extends Load {
  readonly group: Group;
  /** Its seats or its waiting requests that can lose their place, in the order of arrival. */
  readonly displaceable: ReadonlySet<Displaceable>;
}

/** The callers of a site, or a single caller. */
export interface Group extends Load {
  readonly shares: ReadonlySet<Share>;
}

/**
 * Returns the newest of the heaviest caller of the heaviest group, if it is heavier than the newcomer will be. A newcomer without seats
 * and waiting requests also displaces the oldest of callers with one each, so that many callers cannot refuse others for ever.
 * `lost`: which part of the load can lose its place.
 */
export function victimFor(
  share: Share,
  groups: ReadonlyMap<string, Group>,
  lost: keyof Load,
): Displaceable | undefined {
  const { group } = share;
  const heaviest = heaviestOf(groups.values(), lost);
  if (!heaviest) return undefined;
  if (weightOf(heaviest) > weightOf(group) + 1) return newestOf(heaviestOf(heaviest.shares, lost));
  const neighbour = heaviestOf(group.shares, lost);
  if (neighbour && weightOf(neighbour) > weightOf(share) + 1) return newestOf(neighbour);
  if (weightOf(share) > 0) return undefined;
  return oldestOf(neighbour ? [group] : groups.values());
}

function weightOf({ held, waiting }: Load): number {
  return held + waiting;
}

/** Returns the last one of equally heavy loads. */
function heaviestOf<Item extends Load>(loads: Iterable<Item>, lost: keyof Load): Item | undefined {
  let heaviest: Item | undefined;
  for (const load of loads) {
    if (load[lost] > 0 && (!heaviest || weightOf(load) >= weightOf(heaviest))) heaviest = load;
  }
  return heaviest;
}

/** Returns the newest idle one, or the newest one. */
function newestOf(share: Share | undefined): Displaceable | undefined {
  let newest: Displaceable | undefined;
  let idle: Displaceable | undefined;
  for (const each of share?.displaceable ?? []) {
    newest = each;
    if (each.isIdle?.()) idle = each;
  }
  return idle ?? newest;
}

/** Returns the oldest idle one, or the oldest one. */
function oldestOf(groups: Iterable<Group>): Displaceable | undefined {
  let oldest: Displaceable | undefined;
  let idle: Displaceable | undefined;
  for (const { shares } of groups) {
    for (const { displaceable } of shares) {
      for (const each of displaceable) {
        if (!oldest || each.number < oldest.number) oldest = each;
        if ((!idle || each.number < idle.number) && each.isIdle?.()) idle = each;
      }
    }
  }
  return idle ?? oldest;
}
