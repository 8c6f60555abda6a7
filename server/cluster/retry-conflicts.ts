// Repeats a change of an object after conflicts with other writes (optimistic concurrency).
import { isConflict } from '../../apis/meta/v1/errors.ts';

/** Maximum attempts of a change. */
const ATTEMPTS = 5;

/**
 * Runs `change`, which reads the object and writes it on condition that it has not changed meanwhile. After a conflict, `change` decides
 * again. Throws the conflict of the last attempt, and every other error at once. `isRace`: the errors that count as a conflict.
 */
export async function retryConflicts<T>(
  change: () => Promise<T>,
  isRace: (error: unknown) => boolean = isConflict,
  attempts = ATTEMPTS,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await change();
    } catch (error) {
      if (!isRace(error) || attempt === attempts) throw error;
    }
  }
}
