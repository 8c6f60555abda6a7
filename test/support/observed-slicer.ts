// A TimeSlicer whose slices are always used up, and that records the caller of each slice.
import { type Task, TimeSlicer } from '../../server/concurrency/time-slicer.ts';

export class ObservedSlicer extends TimeSlicer {
  readonly callers: (string | undefined)[] = [];

  constructor() {
    super(0);
  }

  override next(task: Task): Promise<void> {
    this.callers.push(task.caller);
    return super.next(task);
  }
}
